"""Networks for text, which are those of transformers."""

import importlib
import inspect
import sys
from typing import Any

import torch

from .errors import first_line, unsupported

# Classes of transformers and sizes that differ from their defaults, by Powerband's names without hyphens.
TEXT_NETWORKS: dict[str, tuple[str, str, dict[str, Any]]] = {
    "bertbase": ("BertConfig", "BertModel", {}),
    "minilm": (
        "BertConfig",
        "BertModel",
        {"hidden_size": 384, "num_hidden_layers": 6, "intermediate_size": 1536},
    ),
    "gpt2": ("GPT2Config", "GPT2LMHeadModel", {}),
    "llamatiny": (
        "LlamaConfig",
        "LlamaForCausalLM",
        {
            "vocab_size": 49152,
            "hidden_size": 576,
            "intermediate_size": 1536,
            "num_hidden_layers": 30,
            "num_attention_heads": 9,
            "num_key_value_heads": 3,
            "max_position_embeddings": 2048,
            "rms_norm_eps": 1e-5,
            "tie_word_embeddings": True,
        },
    ),
}


def text_network(name: str, plain: str, has_past: bool) -> Any:
    """A network of transformers, made from its sizes without a download, that takes its inputs in the order
    of the ONNX file."""
    install = f"`{sys.executable} -m pip install transformers`"
    try:
        transformers = importlib.import_module("transformers")
    except ModuleNotFoundError as error:
        raise unsupported(
            f"{name} in PyTorch is a network of transformers, which is not installed; {install}"
        ) from error
    except Exception as error:
        raise unsupported(
            f"{name} in PyTorch is a network of transformers, which does not load ({first_line(error)}); "
            f"`{sys.executable} -m pip install --upgrade torch transformers`"
        ) from error
    config_class, model_class, sizes = TEXT_NETWORKS[plain]
    config = getattr(transformers, config_class)(**sizes)
    inner = getattr(transformers, model_class)(config)
    is_encoder = model_class == "BertModel"
    third = "token_type_ids" if is_encoder else "position_ids"
    # The word for what a decoder has seen differs between releases.
    takes = inspect.signature(inner.forward).parameters
    cache_name = "cache" if "cache" in takes else "past_key_values"

    class InOrder(torch.nn.Module):
        """Inputs by place rather than by name, and outputs as one list of tensors."""

        def __init__(self) -> None:
            super().__init__()
            self.inner = inner

        def forward(self, ids: Any, mask: Any, third_input: Any, *past: Any) -> Any:
            inputs = {"input_ids": ids, "attention_mask": mask, third: third_input}
            if is_encoder:
                made = self.inner(**inputs)
                return made.last_hidden_state, made.pooler_output
            if not has_past:
                return (self.inner(**inputs, use_cache=False).logits,)
            cache = transformers.DynamicCache()
            for layer in range(len(past) // 2):
                cache.update(past[2 * layer], past[2 * layer + 1], layer)
            made = self.inner(**inputs, **{cache_name: cache}, use_cache=True)
            # It has grown in its place.
            return (made.logits, *cached_tensors(cache))

    return InOrder()


def cached_tensors(cache: Any) -> list[Any]:
    """Keys and values of a cache of transformers, layer by layer; releases keep them in two ways."""
    if hasattr(cache, "layers"):
        return [tensor for layer in cache.layers for tensor in (layer.keys, layer.values)]
    return [tensor for pair in zip(cache.key_cache, cache.value_cache) for tensor in pair]
