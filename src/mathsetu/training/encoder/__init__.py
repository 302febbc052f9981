"""Training of the built-in encoder in stages; each stage reads the folder of the one before.

1. `prepare`: turn public parallel text, questions with answers, and dictionaries into clean pairs;
   drop texts that overlap the topics and queries of the evaluation.
2. `examples`: make pairs of an English text and its translation, with formulas, joined sentences,
   words swapped through the glossary, and sentences from templates; tokenise them.
3. `teach`: encode the English side with an English teacher.
4. `distil`: train a small student to give the teacher's vectors to both sides.
5. `contrast`: train it to bring questions and their answers together, in mixed languages.
6. `calibrate`, `export` and `model_files`: write the student as an int8 ONNX file, with a table of
   token vectors, the tokenizer and checksums.
7. `blend`: average students of one vector space, one of which continued the training of another.
8. `reader`: train a second network, for queries in other languages.
9. `widen`: add languages to a finished model.
"""
