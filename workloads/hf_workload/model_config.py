"""The configuration of a model with random weights, as a plain map."""
from __future__ import annotations

import dataclasses
import pathlib
import sys
from typing import Any, Dict

from hf_workload.faults import UsageFault
from hf_workload.text_files import parse_json, read_text, yaml_module

# Our options decide instead: weights are created in --dtype, on one device, without quantization.
LEFT_OUT = ("dtype", "torch_dtype", "quantization_config", "auto_map", "transformers_version")

NOT_IN_TRANSFORMERS = {
    "deepseek_vl_v2": "transformers has no deepseek_vl_v2 (DeepSeek-OCR); its successor, with the same "
    "text model, is model_type deepseek_ocr2 (model=llm/deepseek_ocr2); its own code runs with "
    "--weights real --path FOLDER --trust-remote-code",
}


@dataclasses.dataclass(frozen=True)
class ModelConfig:
    name: str
    values: Dict[str, Any]


def read_model_config(json_or_path: str) -> ModelConfig:
    """A config.json (its text, its path, its folder), or a preset with the map under `config`."""
    if json_or_path.lstrip().startswith("{"):
        return _checked(parse_json(json_or_path, "--model-config"), "--model-config", "")
    path = pathlib.Path(json_or_path)
    if path.is_dir():
        path = path / "config.json"
    where = str(path)
    text = read_text(where)
    if path.suffix in (".yaml", ".yml"):
        yaml = yaml_module(where)
        try:
            values = yaml.safe_load(text)
        except yaml.YAMLError as error:
            raise UsageFault(f"{where}: invalid YAML ({error})") from error
    else:
        values = parse_json(text, where)
    return _checked(values, where, path.parent.name if path.name == "config.json" else path.stem)


def _checked(values: Any, where: str, name: str) -> ModelConfig:
    if not isinstance(values, dict):
        raise UsageFault(f"{where}: the configuration of a model must be a map")
    if "config" in values and "model_type" not in values:  # a preset of conf/model/llm
        name = str(values.get("name", name))
        values = values["config"]
    model_type = values.get("model_type") if isinstance(values, dict) else None
    if not model_type:
        raise UsageFault(f"{where}: no model_type, which names the model's architecture (llama, qwen2, ...)")
    if model_type in NOT_IN_TRANSFORMERS:
        raise UsageFault(f"{where}: {NOT_IN_TRANSFORMERS[model_type]}")
    if "quantization_config" in values:
        print("hf_llm: quantization_config is ignored: random weights are created in --dtype",
              file=sys.stderr)
    return ModelConfig(name or str(values.get("_name_or_path") or model_type), _kept(values))


def _kept(values: Dict[str, Any]) -> Dict[str, Any]:
    """Without the ignored keys, also in nested parts (text_config, ...)."""
    return {key: _kept(value) if isinstance(value, dict) else value
            for key, value in values.items() if key not in LEFT_OUT}
