"""What a setup asks for, read before PyTorch is imported."""

import dataclasses
import math
import re
from typing import Any, Optional

from .errors import unsupported

# The seed of weights that no file gives, and of everything random in training.
SEED = 42

MIXED = {"amp-bf16": "bfloat16", "amp-fp16": "float16"}
WHOLE = {"bf16": "bfloat16", "fp16": "float16"}
COMPILERS = ("compile", "script", "tensorrt")
COMPILE_MODES = ("default", "reduce-overhead", "max-autotune")
MODE_WORDS = ("eager", *MIXED, *WHOLE, "channels-last", *COMPILERS)
# Learning rates where the setup gives none; the optimisers that are steered by the size of their
# gradients would fly apart with that of plain descent.
OPTIMISERS = {"sgd": 0.1, "adam": 0.001, "adamw": 0.001}
MOMENTUM = 0.9
# Who asks for the tokens of task=generate: a loop here, or generate() of transformers.
LOOPS = ("plain", "generate")
CLOCKS = ("device", "host")


@dataclasses.dataclass(frozen=True)
class Recipe:
    """A setup, read and found free of contradictions."""

    # As the setup has it: cpu, cuda:0, rocm:0.
    device: str
    # As torch has it: a card is cuda on AMD as well.
    target: str
    words: frozenset[str]
    options: dict[str, str]

    @property
    def on_card(self) -> bool:
        return self.target != "cpu"

    @property
    def by_events(self) -> bool:
        """Whether times are those of events in the card's queue."""
        return self.on_card and self.options.get("clock") != "host"

    @property
    def trains(self) -> bool:
        return self.options.get("task", "infer") == "train"

    @property
    def generates(self) -> bool:
        return self.options.get("task", "infer") == "generate"

    @property
    def compiler(self) -> Optional[str]:
        return next((word for word in COMPILERS if word in self.words), None)

    @property
    def numbers(self) -> Optional[str]:
        """The precision, where it is not 32-bit floats."""
        return next((word for word in (*MIXED, *WHOLE) if word in self.words), None)

    def choice(self, key: str, values: tuple[str, ...], default: str) -> str:
        value = self.options.get(key, default)
        if value not in values:
            raise unsupported(f"{key}={value} is none of {', '.join(values)}")
        return value

    def whole(self, key: str) -> Optional[int]:
        text = self.options.get(key)
        if text is None:
            return None
        if not text.isdecimal() or int(text) < 1:
            raise unsupported(f"{key}={text} is not a whole number above zero")
        return int(text)

    def number(self, key: str, default: float) -> float:
        text = self.options.get(key)
        try:
            value = default if text is None else float(text)
        except ValueError:
            value = math.nan
        if not value >= 0 or math.isinf(value):
            raise unsupported(f"{key}={text} is not a number from zero up, such as {default}")
        return value


def read_recipe(setup: dict[str, Any]) -> Recipe:
    device = setup.get("device", "cpu")
    options = setup.get("options", {})
    if not re.fullmatch(r"cpu|(cuda|rocm):\d+", device):
        raise unsupported(f'PyTorch runs on cpu, cuda:N and rocm:N here, not on "{device}"')
    target = device.replace("rocm", "cuda")
    words = frozenset(options.get("mode", "eager").split("+"))
    recipe = Recipe(device, target, words, options)
    check_words(recipe)
    recipe.choice("task", ("infer", "train", "generate"), "infer")
    recipe.choice("loop", LOOPS, "plain")
    recipe.choice("deterministic", ("true", "false"), "false")
    recipe.choice("tf32", ("on", "off"), "on")
    recipe.choice("clock", CLOCKS, "device")
    recipe.choice("compile_mode", COMPILE_MODES, "default")
    if recipe.trains:
        check_training(recipe)
    if recipe.generates and recipe.compiler:
        raise unsupported(
            f"mode={recipe.compiler} makes code for each length of the cache anew, so it does not go with "
            "task=generate; leave one of them out"
        )
    return recipe


def check_words(recipe: Recipe) -> None:
    """Refuses words that there are not, and words that exclude each other."""
    unknown = sorted(recipe.words.difference(MODE_WORDS))
    if unknown:
        known = ", ".join(MODE_WORDS)
        raise unsupported(f'mode has no "{unknown[0]}"; join with + any of {known}')
    for group, why in (
        ((*MIXED, *WHOLE), "a network runs in one kind of numbers"),
        (("eager", *COMPILERS), "a network is run in one way"),
    ):
        asked = [word for word in group if word in recipe.words]
        if len(asked) > 1:
            raise unsupported(f"mode={'+'.join(asked)} contradicts itself: {why}; keep one of them")


def check_training(recipe: Recipe) -> None:
    optimiser = recipe.choice("optimiser", tuple(OPTIMISERS), "sgd")
    recipe.number("lr", OPTIMISERS[optimiser])
    recipe.number("momentum", MOMENTUM)
    recipe.whole("epoch_items")
    if "momentum" in recipe.options and optimiser != "sgd":
        raise unsupported(f"momentum belongs to optimiser=sgd, and {optimiser} has its own")
    if recipe.compiler in ("script", "tensorrt"):
        raise unsupported(
            f"mode={recipe.compiler} makes a network that cannot learn; for task=train take eager or compile"
        )
    if recipe.numbers == "fp16":
        raise unsupported("weights in fp16 lose the small steps of training; take mode=amp-fp16, bf16 or amp-bf16")
