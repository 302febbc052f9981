"""Training of tiny models: the loss falls, and an interruption changes nothing."""

from collections.abc import Callable
from pathlib import Path

import pytest

from mathsetu.errors import InputError
from mathsetu.ranking.rerank import Rerank, Reranker
from mathsetu.training.bi_encoder import train_bi_encoder
from mathsetu.training.checkpoints import State
from mathsetu.training.cross_encoder import train_cross_encoder
from mathsetu.training.loop import Fit
from mathsetu.training.pairs import TrainingPair
from tests.encoders.tiny import TEXTS, make_cross_encoder, make_model

HALVES = [(text[: len(text) // 2], text[len(text) // 2 :]) for text in TEXTS]
PAIRS = [
    TrainingPair(start, end, float(first == second))
    for first, (start, _) in enumerate(HALVES)
    for second, (_, end) in enumerate(HALVES)
    if (first - second) % 4 < 2
]
FEW = Fit(epochs=3, batch=2, learning_rate=1e-3, checkpoint_every=3, device="cpu", max_tokens=40)

Train = Callable[..., State]


@pytest.fixture(scope="module")
def cross_encoder(tmp_path_factory: pytest.TempPathFactory) -> str:
    pytest.importorskip("sentence_transformers")
    return str(make_cross_encoder(tmp_path_factory.mktemp("cross")))


@pytest.fixture(scope="module")
def bi_encoder(tmp_path_factory: pytest.TempPathFactory) -> str:
    pytest.importorskip("sentence_transformers")
    return str(make_model(tmp_path_factory.mktemp("bi")))


@pytest.fixture(params=["cross-encoder", "bi-encoder"])
def train(request: pytest.FixtureRequest, cross_encoder: str, bi_encoder: str) -> Train:
    """Trains a tiny model of either kind into a folder."""

    def run(folder: Path, settings: Fit = FEW, **more: object) -> State:
        if request.param == "cross-encoder":
            return train_cross_encoder(
                cross_encoder, lambda number: PAIRS, PAIRS[:2], folder, settings, **more
            )  # type: ignore[arg-type]
        right = [pair for pair in PAIRS if pair.label]
        return train_bi_encoder(bi_encoder, right, right, folder, settings, **more)  # type: ignore[arg-type]

    return run


def weights(folder: Path) -> bytes:
    [file] = (folder / "model").glob("*.safetensors")
    return file.read_bytes()


def test_the_loss_falls(train: Train, tmp_path: Path) -> None:
    more = Fit(epochs=40, batch=4, learning_rate=2e-3, patience=40, device="cpu", max_tokens=40)
    history = train(tmp_path, more).history
    assert history[-1]["training_loss"] < 0.7 * history[0]["training_loss"]


def test_two_trainings_with_the_same_seed_give_the_same_model(train: Train, tmp_path: Path) -> None:
    assert train(tmp_path / "a").history == train(tmp_path / "b").history
    assert weights(tmp_path / "a") == weights(tmp_path / "b")


def test_another_seed_gives_another_model(train: Train, tmp_path: Path) -> None:
    train(tmp_path / "a")
    train(tmp_path / "b", Fit(**{**vars(FEW), "seed": 2}))
    assert weights(tmp_path / "a") != weights(tmp_path / "b")


@pytest.mark.parametrize("stopped_after", [2, 5])
def test_a_stopped_training_is_resumed_and_gives_the_same_model(
    train: Train, tmp_path: Path, stopped_after: int
) -> None:
    done = 0

    def stop(what: str, number: int) -> None:
        nonlocal done
        done += 1
        if done > stopped_after:
            raise KeyboardInterrupt

    whole = train(tmp_path / "whole")
    with pytest.raises(KeyboardInterrupt):
        train(tmp_path / "parts", progress=stop)
    assert train(tmp_path / "parts").history == whole.history
    assert weights(tmp_path / "parts") == weights(tmp_path / "whole")


def test_a_finished_training_is_not_repeated(train: Train, tmp_path: Path) -> None:
    steps: list[int] = []
    first = train(tmp_path)
    again = train(tmp_path, progress=lambda what, number: steps.append(number))
    assert (again, steps) == (first, [])


def test_a_folder_of_another_training_is_refused(train: Train, tmp_path: Path) -> None:
    train(tmp_path)
    with pytest.raises(InputError, match="another model, other data or other settings"):
        train(tmp_path, Fit(**{**vars(FEW), "learning_rate": 1e-2}))


def test_a_damaged_checkpoint_is_refused(train: Train, tmp_path: Path) -> None:
    train(tmp_path)
    [checkpoint] = tmp_path.glob("checkpoint-*")
    (checkpoint / "model.safetensors").write_bytes(b"not a model")
    with pytest.raises(InputError, match="is damaged"):
        train(tmp_path)


def test_training_stops_when_the_validation_loss_no_longer_falls(
    cross_encoder: str, tmp_path: Path
) -> None:
    # The labels for validation are the opposite of those for training.
    opposite = [TrainingPair(pair.question, pair.text, 1 - pair.label) for pair in PAIRS]
    settings = Fit(**{**vars(FEW), "epochs": 20, "patience": 2, "learning_rate": 3e-3})
    state = train_cross_encoder(cross_encoder, lambda number: PAIRS, opposite, tmp_path, settings)
    assert len(state.history) == state.best + 1 + settings.patience < 20


def test_the_card_of_a_model_has_its_data_settings_and_figures(
    train: Train, tmp_path: Path
) -> None:
    state = train(tmp_path, data="Halves of sentences.")
    card = (tmp_path / "model" / "README.md").read_text(encoding="utf-8")
    for said in ("Halves of sentences.", "learning_rate 0.001", "seed 1", "AdamW", "(kept)"):
        assert said in card
    assert f"{state.history[0]['training_loss']:.4f}" in card


def test_a_trained_cross_encoder_reranks(cross_encoder: str, tmp_path: Path) -> None:
    settings = Fit(**{**vars(FEW), "epochs": 40, "patience": 40, "batch": 4})
    train_cross_encoder(cross_encoder, lambda number: PAIRS, PAIRS, tmp_path, settings)
    ends = [end for _, end in HALVES]
    reranker = Reranker(Rerank(str(tmp_path / "model"), tiers=(), max_tokens=40))
    wrong_first = [3, 0, 1, 2]
    for place, (start, _) in enumerate(HALVES[:3]):
        pair = [ends[wrong_first[place]], ends[place]]
        assert reranker.rerank(start, pair, [2.0, 1.0]).order == (1, 0)


def test_training_without_examples_is_refused(cross_encoder: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="nothing to learn from"):
        train_cross_encoder(cross_encoder, lambda number: [], [], tmp_path, FEW)


@pytest.mark.parametrize(
    "wrong", [{"batch": 0}, {"learning_rate": -1.0}, {"warmup": 1.0}, {"patience": 0}]
)
def test_invalid_settings_are_refused_by_name(wrong: dict[str, float]) -> None:
    with pytest.raises(InputError, match=next(iter(wrong))):
        Fit(**wrong)  # type: ignore[arg-type]
