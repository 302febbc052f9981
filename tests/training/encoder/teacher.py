"""A small BERT with its WordPiece tokenizer, made in a second: a teacher, or initial weights."""

from pathlib import Path

from tests.training.encoder.raw import NUMBERS, SENTENCES


def make_teacher(folder: Path, width: int = 32, positions: int = 192) -> Path:
    """Write a teacher into a folder; the same one every time."""
    import torch
    import transformers
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors, trainers

    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    texts = [text.format(n=number) for text in SENTENCES["en"] for number in NUMBERS]
    trainer = trainers.WordPieceTrainer(vocab_size=300, special_tokens=special, show_progress=False)
    tokenizer.train_from_iterator(texts, trainer)
    tokenizer.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    torch.manual_seed(1)
    config = transformers.BertConfig(
        vocab_size=tokenizer.get_vocab_size(),
        hidden_size=width,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=4 * width,
        max_position_embeddings=positions,
    )
    transformers.BertModel(config, add_pooling_layer=False).save_pretrained(folder)
    tokenizer.save(str(folder / "tokenizer.json"))
    return folder
