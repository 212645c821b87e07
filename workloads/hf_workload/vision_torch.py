"""Images for vision-language models, and the names of their parts in reports."""
from __future__ import annotations

import dataclasses
from typing import Any, Dict, List, Tuple

from hf_workload.faults import UsageFault
from hf_workload.model_torch import first_line, out_of_memory_class
from hf_workload.options import Options

# Name of a submodule: name of the range around it. The encoder after SAM is called clip, as in the
# first DeepSeek-OCR, whatever network it is.
PARTS = {
    "sam_encoder": "sam",
    "sam_model": "sam",
    "sam": "sam",
    "high_res_vision_tower": "sam",
    "vision_encoder": "clip",
    "clip_model": "clip",
    "clip": "clip",
    "multi_modal_projector": "projector",
    "mm_projector": "projector",
    "projector": "projector",
    "aligner": "projector",
}
# Towers that count as one part, if they contain none of the above.
WHOLE_TOWERS = ("vision_tower", "vision_model", "visual")
LANGUAGE = ("language_model", "lm_head")


def vision_parts(names: List[str]) -> Dict[str, str]:
    """The dotted names of the submodules that get a range, with its label; none is inside another."""
    def inside(name: str, outer: str) -> bool:
        return name.startswith(outer + ".")

    seen = [name for name in names if name and not any(part in LANGUAGE for part in name.split("."))]
    found: Dict[str, str] = {}
    for name in sorted(seen, key=lambda text: text.count(".")):
        label = PARTS.get(name.rsplit(".", maxsplit=1)[-1])
        if label and not any(inside(name, outer) for outer in found):
            found[name] = label
    for name in seen:
        if name.rsplit(".", maxsplit=1)[-1] in WHOLE_TOWERS:
            if not any(inside(part, name) or inside(name, part) for part in found):
                found[name] = "vision_tower"
    return found


@dataclasses.dataclass(frozen=True)
class Images:
    """Random images for a batch; prompts contain `tokens_each` placeholders per image."""

    pixel_values: Any
    token: int
    tokens_each: int
    count: int  # per sequence


def image_size(config: Any) -> int:
    vision = getattr(config, "vision_config", None)
    for part in (getattr(vision, "sam_config", None), vision):
        size = getattr(part, "image_size", None)
        if isinstance(size, (list, tuple)):
            size = size[0]
        if isinstance(size, int):
            return size
    raise UsageFault("the model's configuration has no image size; give --image-size PIXELS, or "
                     "--images 0 for text only")


def make_images(torch: Any, model: Any, options: Options) -> Images:
    config = model.config
    token = getattr(config, "image_token_id", getattr(config, "image_token_index", None))
    if token is None or not hasattr(model, "get_image_features"):
        raise UsageFault(f"--images {options.images}: {type(model).__name__} does not support images; use --images 0")
    size = options.image_size or image_size(config)
    pictures = options.batch * options.images
    generator = torch.Generator().manual_seed(options.seed)
    pixels = torch.randn(pictures, 3, size, size, generator=generator)
    pixels = pixels.to(device=options.device, dtype=getattr(torch, options.dtype))
    try:
        features = model.get_image_features(pixel_values=pixels[:1])
    except out_of_memory_class(torch):
        raise
    except (TypeError, ValueError, RuntimeError) as error:
        raise UsageFault(f"--images {options.images}: {type(model).__name__} does not accept plain "
                         f"pixel_values of {size} x {size} ({first_line(error)}); try "
                         "--image-size, or --images 0 for text only") from error
    return Images(pixels, int(token), _rows(features), options.images)


def _rows(features: Any) -> int:
    """Number of tokens per image: versions return a tensor, a list of tensors, or an object."""
    for name in ("pooler_output", "last_hidden_state"):
        if getattr(features, name, None) is not None:
            features = getattr(features, name)
            break
    if isinstance(features, (list, tuple)):
        features = features[0]
    shape: Tuple[int, ...] = tuple(features.shape)
    rows = 1
    for extent in shape[:-1]:
        rows *= int(extent)
    return rows


def with_placeholders(ids: List[int], images: Images) -> List[int]:
    """A prompt of the same length that begins with the image placeholders; its other tokens are none."""
    taken = images.count * images.tokens_each
    if taken >= len(ids):
        raise UsageFault(f"--prompt-tokens {len(ids)}: {images.count} images take {taken} of them; give at "
                         f"least {taken + 1}")
    text = [1 if token == images.token else token for token in ids[taken:]]
    return [images.token] * taken + text
