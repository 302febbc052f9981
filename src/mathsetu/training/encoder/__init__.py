"""How the built-in encoder is made, stage by stage; each stage reads the folder of the one before.

1. `prepare`: public parallel text, questions and answers, and dictionaries become clean pairs;
   what overlaps the topics and queries that the model is measured on is dropped.
2. `examples`: pairs of an English text and the same in another language, with formulas, joined
   sentences, words swapped through the glossary, and sentences from templates; as token numbers.
3. `teach`: the vectors that an English teacher gives to the English side.
4. `distil`: a small student learns to give these vectors to both sides.
5. `contrast`: it learns to put questions and their answers together, in mixed languages.
6. `calibrate`, `export` and `model_files`: the student as an int8 ONNX file, with a table of token
   vectors, the tokenizer and checksums.
7. `blend`: the mean of students of one vector space, of which one was trained on from another.
8. `reader`: a second network beside it, for queries in other languages.
"""
