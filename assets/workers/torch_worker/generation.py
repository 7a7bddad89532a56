"""A case of task=generate, as in crates/worker/src/engines/generate.rs: a run is a request to a decoder."""

import inspect
import time
from typing import Any, Optional

import torch

from .errors import failed, unsupported
from .measuring import spaced
from .networks import Network
from .placing import autocast
from .recipe import Recipe

# What decoders call their keys and values.
CACHES = ("past_key_values", "cache")


class Generation:
    """A decoder whose runs are requests: a prompt, then tokens one by one, each the most likely."""

    part_names: tuple[str, ...] = ()
    parts: tuple[int, ...] = ()
    watched = False

    def __init__(self, recipe: Recipe, network: Network, module: Any, request: dict[str, Any], seed: int) -> None:
        if network.kind in ("exported", "script"):
            raise unsupported(
                f"task=generate takes a module that can be called with past_key_values, and {network.title} "
                "is a saved program; give module=MODULE:FUNCTION"
            )
        self.keyword = cache_keyword(module, network.title)
        self.batch, self.prompt, self.new = (request[key] for key in ("batch", "prompt", "new"))
        check_positions(module, self.prompt, self.new)
        self.recipe, self.module, self.title = recipe, module, network.title
        words = vocabulary(module, network.title)
        count = self.batch * self.prompt
        tokens = [split_mix((seed + place) % 2**64) % words for place in range(count)]
        shape = (self.batch, self.prompt)
        self.tokens = torch.tensor(tokens, dtype=torch.int64).reshape(shape).to(recipe.target)
        self.mask = torch.ones_like(self.tokens)
        self.by_generate = recipe.options.get("loop") == "generate"
        if self.by_generate and not hasattr(module, "generate"):
            raise unsupported(f"loop=generate needs a module with generate(), as transformers has; "
                              f"{network.title} has none; take loop=plain")  # fmt: skip
        by = "generate() of transformers" if self.by_generate else "a plain loop"
        self.feeding = f"prompts made once on the device; tokens asked for by {by} and read back one by one"
        self.marks: list[int] = []
        self.made: list[Any] = []
        self.cache_bytes: Optional[int] = None
        self.take_generation()

    def mode(self) -> Any:
        return torch.inference_mode()

    def timed_run(self) -> int:
        self.marks, self.made = [], []
        start = time.perf_counter_ns()
        with autocast(self.recipe):
            cache = self.generated() if self.by_generate else self.looped()
        if len(self.marks) != self.new:
            raise failed(f"{self.title} made {len(self.marks)} tokens where {self.new} were asked for")
        times = [start, *self.marks]
        spans = [later - earlier for earlier, later in zip(times, times[1:])]
        self.first_token_ns.append(spans[0])
        self.later_token_ns += spans[1:]
        if self.cache_bytes is None:
            self.cache_bytes = sum(tensor.numel() * tensor.element_size() for tensor in caches_in(cache))
        return times[-1] - start

    def looped(self) -> Any:
        """The cache, after one call for the prompt and one for each further token."""
        tokens, cache = self.tokens, None
        for _ in range(self.new):
            scores, cache = self.scores_and_cache(tokens, cache)
            tokens = scores[:, -1].argmax(-1, keepdim=True)
            self.put(tokens[:, 0])
        return cache

    def generated(self) -> Any:
        """The cache, after transformers asked for the tokens."""
        settings = self.module.generation_config
        # No token ends a request early.
        settings.eos_token_id = None
        settings.pad_token_id = 0
        settings.do_sample = False
        settings.max_new_tokens = self.new
        settings.return_dict_in_generate = True
        done = self.module.generate(self.tokens, attention_mask=self.mask, use_cache=True, streamer=self)
        return named(done, CACHES)

    def scores_and_cache(self, tokens: Any, cache: Any) -> tuple[Any, Any]:
        """One call of the decoder: the scores of each position, and keys and values of all of them."""
        done = self.module(input_ids=tokens, use_cache=True, **{self.keyword: cache})
        scores, cache = named(done, ("logits",)), named(done, CACHES)
        if scores is None and isinstance(done, (tuple, list)) and len(done) > 1:
            scores, cache = done[0], done[1]
        if not torch.is_tensor(scores) or scores.dim() != 3 or cache is None:
            raise unsupported(
                f"task=generate needs logits, batch×sequence×vocabulary, and past_key_values from {self.title}; "
                "return them as transformers does, or as a pair"
            )
        return scores, cache

    def put(self, tokens: Any) -> None:
        """Takes the new token of each sequence; transformers hands over the prompt first."""
        if tokens.numel() != self.batch or (self.by_generate and tokens.dim() != 1):
            return
        self.made.append(tokens.cpu())
        self.marks.append(time.perf_counter_ns())

    def end(self) -> None:
        """Called by transformers when all tokens are made."""

    def take_generation(self) -> Optional[dict[str, Any]]:
        """What the requests since the last call took."""
        taken = None
        if hasattr(self, "first_token_ns"):
            taken = {
                "prompt_tokens": self.batch * self.prompt,
                "new_tokens": self.batch * self.new,
                "sequences": self.batch,
                "first_token_ns": self.first_token_ns,
                "later_token_ns": self.later_token_ns,
                "cache_bytes": self.cache_bytes,
            }
        self.first_token_ns: list[int] = []
        self.later_token_ns: list[int] = []
        return taken

    def outputs(self) -> list[tuple[str, Any]]:
        self.timed_run()
        return [("tokens", torch.stack(self.made, 1).numpy())]

    def finished_epochs(self) -> list[dict[str, Any]]:
        return []


def split_mix(place: int) -> int:
    """The next value of the generator SplitMix64, as in crates/worker/src/engines/generate.rs."""
    whole = 2**64 - 1
    value = (place + 1) * 0x9E3779B97F4A7C15 & whole
    value = (value ^ value >> 30) * 0xBF58476D1CE4E5B9 & whole
    value = (value ^ value >> 27) * 0x94D049BB133111EB & whole
    return value ^ value >> 31


def cache_keyword(module: Any, title: str) -> str:
    """What the forward of a decoder calls the keys and values that it takes."""
    names = inspect.signature(module.forward).parameters
    found = next((name for name in CACHES if name in names), None)
    if found is None:
        raise unsupported(
            f"task=generate needs past key/values: the forward of {title} takes no past_key_values, only "
            f"{', '.join(names) or 'nothing'}; give a decoder such as those of transformers"
        )
    return found


def named(done: Any, names: tuple[str, ...]) -> Any:
    """A part of what a network returned, by the first of its names that is there."""
    found = [done.get(name) if isinstance(done, dict) else getattr(done, name, None) for name in names]
    return next((part for part in found if part is not None), None)


def check_positions(module: Any, prompt: int, new: int) -> None:
    config = getattr(module, "config", None)
    most = getattr(config, "max_position_embeddings", None) or getattr(config, "n_positions", None)
    if most and prompt + new - 1 > most:
        raise unsupported(
            f"prompt {prompt} and new {new} take {prompt + new - 1} positions, and the network has {most}; "
            f"make prompt + new − 1 at most {most}"
        )


def vocabulary(module: Any, title: str) -> int:
    """How many tokens the network knows."""
    known = getattr(getattr(module, "config", None), "vocab_size", None)
    if known:
        return int(known)
    tables = [one.num_embeddings for one in module.modules() if isinstance(one, torch.nn.Embedding)]
    if not tables:
        raise unsupported(f"{title} has no table of tokens (nn.Embedding), so no prompt can be made for it")
    return tables[0]


def caches_in(cache: Any) -> list[Any]:
    """The tensors of keys and values, of whatever kind the cache is."""
    if torch.is_tensor(cache):
        return [cache]
    if isinstance(cache, (tuple, list)):
        return [found for one in cache for found in caches_in(one)]
    for name in ("layers", "key_cache"):
        if hasattr(cache, name):
            other = getattr(cache, "value_cache", ())
            return caches_in([*getattr(cache, name), *other])
    return [tensor for name in ("keys", "values") for tensor in caches_in(getattr(cache, name, ()))]


def generation_document(taken: Optional[dict[str, Any]], samples_ns: list[int]) -> Optional[dict[str, Any]]:
    """The tokens of a round. A request that had to wait has its first token so much later: its sample counts
    from the arrival, and the tokens of a request add up to its sample."""
    if not taken:
        return None
    later = taken["later_token_ns"]
    each = len(later) // max(1, len(samples_ns))
    first = [max(0, sample - sum(later[place * each : (place + 1) * each])) for place, sample in enumerate(samples_ns)]
    return {**taken, "first_token_ns": spaced(first), "later_token_ns": spaced(later)}
