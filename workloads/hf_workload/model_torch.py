"""Creates or loads the model."""
from __future__ import annotations

import contextlib
import dataclasses
import pathlib
import random
from typing import Any, Dict, Iterator, Optional

from hf_workload.faults import DeviceFault, MissingPackageFault, UsageFault
from hf_workload.model_config import read_model_config
from hf_workload.options import Options
from hf_workload.prompts import Ids, Tokenize


@dataclasses.dataclass(frozen=True)
class Libraries:
    torch: Any
    transformers: Any


@dataclasses.dataclass(frozen=True)
class LoadedModel:
    name: str
    module: Any
    text_config: Any
    parameters: int
    tokenize: Optional[Tokenize]

    @property
    def vocabulary(self) -> int:
        return int(self.text_config.vocab_size)


def import_libraries() -> Libraries:
    try:
        import torch
    except ImportError as error:
        raise MissingPackageFault(f"torch cannot be imported ({error}); pip install torch transformers, "
                                  "or start hf_llm.py with the Python that has them") from error
    try:
        import transformers
    except ImportError as error:
        raise MissingPackageFault(f"transformers cannot be imported ({error}); "
                                  "pip install transformers") from error
    return Libraries(torch, transformers)


def check_device(torch: Any, options: Options) -> None:
    if not options.uses_cuda:
        return
    try:
        index = torch.device(options.device).index or 0
    except RuntimeError as error:
        raise UsageFault(f"--device {options.device}: {first_line(error)}") from error
    if not torch.cuda.is_available():
        raise DeviceFault(f"--device {options.device}: torch {torch.__version__} sees no CUDA device; check "
                          "nvidia-smi and that torch was built with CUDA, or use --device cpu")
    count = torch.cuda.device_count()
    if index >= count:
        raise DeviceFault(f"--device {options.device}: torch sees {count} CUDA devices, "
                          f"cuda:0 to cuda:{count - 1}")
    torch.cuda.set_device(index)


def out_of_memory_class(torch: Any) -> Any:
    return getattr(torch, "OutOfMemoryError", None) or torch.cuda.OutOfMemoryError


def first_line(error: BaseException) -> str:
    lines = str(error).strip().splitlines()
    return lines[0] if lines else type(error).__name__


@contextlib.contextmanager
def _weights_made_on(torch: Any, device: str, dtype: Any) -> Iterator[None]:
    before = torch.get_default_dtype()
    torch.set_default_dtype(dtype)
    try:
        with torch.device(device):
            yield
    finally:
        torch.set_default_dtype(before)


def load_model(libraries: Libraries, options: Options) -> LoadedModel:
    torch = libraries.torch
    torch.manual_seed(options.seed)
    random.seed(options.seed)
    dtype = getattr(torch, options.dtype)
    extra: Dict[str, Any] = {}
    # generate_batch always has a paged variant of sdpa; of other implementations only if installed.
    attention = options.attention or ("sdpa" if options.mode == "continuous_batching" else "")
    if attention:
        extra["attn_implementation"] = attention
    if options.weights == "real":
        return _real(libraries, options, dtype, extra)
    return _random(libraries, options, dtype, extra)


def _auto_class(transformers: Any, config: Any, options: Options) -> Any:
    """Some vision-language models are also registered as language models, without images."""
    causal = getattr(transformers, "MODEL_FOR_CAUSAL_LM_MAPPING", {})
    if hasattr(config, "vision_config") and (options.images or type(config) not in causal):
        return transformers.AutoModelForImageTextToText
    return transformers.AutoModelForCausalLM


def _random(libraries: Libraries, options: Options, dtype: Any, extra: Dict[str, Any]) -> LoadedModel:
    torch, transformers = libraries.torch, libraries.transformers
    described = read_model_config(options.model_config)
    try:
        config = transformers.AutoConfig.for_model(**described.values)
    except Exception as error:  # each version has its own classes of validation errors
        raise UsageFault(f"model_type {described.values['model_type']}: transformers "
                         f"{transformers.__version__} does not know it, or rejects its configuration "
                         f"({first_line(error)}); install a version that does, or choose another "
                         "model") from error
    with _weights_made_on(torch, options.device, dtype):
        module = _from_config(transformers, config, options, extra)
    return _loaded(options.name or described.name, module.to(options.device), None)


def _from_config(transformers: Any, config: Any, options: Options, extra: Dict[str, Any]) -> Any:
    auto = _auto_class(transformers, config, options)
    registered = getattr(transformers, "MODEL_FOR_IMAGE_TEXT_TO_TEXT_MAPPING", None)
    own_name = type(config).__name__.replace("Config", "ForConditionalGeneration")
    own = getattr(transformers, own_name, None)
    # Some conditional generators are not registered yet; their class is found by its name.
    if auto is not transformers.AutoModelForCausalLM and own and registered and type(config) not in registered:
        return own._from_config(config, **extra)
    return auto.from_config(config, **extra)


def _real(libraries: Libraries, options: Options, dtype: Any, extra: Dict[str, Any]) -> LoadedModel:
    transformers = libraries.transformers
    folder = pathlib.Path(options.path)
    if not (folder / "config.json").is_file():
        raise UsageFault(f"--path {folder}: it contains no config.json; give the folder of a model as "
                         "written by Hugging Face's save_pretrained")
    local: Dict[str, Any] = {"local_files_only": True, "trust_remote_code": options.trust_remote_code}
    config = transformers.AutoConfig.from_pretrained(str(folder), **local)
    # Older versions know the argument only as torch_dtype.
    major = int(str(transformers.__version__).split(".", maxsplit=1)[0])
    extra["dtype" if major >= 5 else "torch_dtype"] = dtype
    module = _auto_class(transformers, config, options).from_pretrained(str(folder), **local, **extra)
    return _loaded(options.name or folder.resolve().name, module.to(options.device),
                   _tokenizer(transformers, str(folder), local))


def _tokenizer(transformers: Any, folder: str, local: Dict[str, Any]) -> Optional[Tokenize]:
    try:
        tokenizer = transformers.AutoTokenizer.from_pretrained(folder, **local)
    except (OSError, ValueError, ImportError):
        return None  # reported when a text prompt needs it

    def tokenize(text: str) -> Ids:
        return [int(token) for token in tokenizer(text)["input_ids"]]

    return tokenize


def _loaded(name: str, module: Any, tokenize: Optional[Tokenize]) -> LoadedModel:
    module.eval()
    config = module.config
    text_config = config.get_text_config() if hasattr(config, "get_text_config") else config
    return LoadedModel(name, module, text_config, sum(p.numel() for p in module.parameters()), tokenize)
