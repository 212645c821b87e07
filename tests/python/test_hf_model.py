"""Configurations of models, and the parts of a model that get ranges."""
import importlib.util
import json
import unittest

import hf_case
from hf_workload.faults import UsageFault
from hf_workload.model_config import read_model_config
from hf_workload.ranges_torch import layer_labels
from hf_workload.vision_torch import Images, vision_parts, with_placeholders


class ModelConfig(hf_case.FolderCase):
    def test_text_file_and_folder(self):
        text = json.dumps({"model_type": "llama", "hidden_size": 8, "torch_dtype": "float16",
                           "text_config": {"dtype": "float32", "layers": 2}})
        wanted = {"model_type": "llama", "hidden_size": 8, "text_config": {"layers": 2}}
        self.assertEqual(read_model_config(text).values, wanted)
        (self.folder / "small").mkdir()
        path = self.file("small/config.json", text)
        for given in (path, str(self.folder / "small")):
            described = read_model_config(given)
            self.assertEqual((described.name, described.values), ("small", wanted))

    @unittest.skipUnless(importlib.util.find_spec("yaml"), "needs PyYAML (Debian: python3-yaml), which is not installed")
    def test_a_preset(self):
        described = read_model_config(str(hf_case.ROOT / "conf/model/llm/llama2_7b.yaml"))
        self.assertEqual(described.name, "meta-llama/Llama-2-7b-hf")
        self.assertEqual(described.values["num_hidden_layers"], 32)

    def test_faults(self):
        with self.assertRaisesRegex(UsageFault, "--model-config:1: invalid JSON"):
            read_model_config("{model_type}")
        with self.assertRaisesRegex(UsageFault, "no model_type"):
            read_model_config('{"hidden_size": 8}')
        with self.assertRaisesRegex(UsageFault, "none.json: cannot be read"):
            read_model_config(str(self.folder / "none.json"))
        with self.assertRaisesRegex(UsageFault, "must be a map"):
            read_model_config(self.file("list.json", "[1]"))

    def test_a_model_that_transformers_lacks(self):
        with self.assertRaisesRegex(UsageFault, "no deepseek_vl_v2 .*model_type deepseek_ocr2.*--trust-remote-code"):
            read_model_config('{"model_type": "deepseek_vl_v2"}')


class Parts(unittest.TestCase):
    def test_deepseek_ocr2(self):
        names = ["", "model", "model.vision_tower", "model.vision_tower.sam_encoder",
                 "model.vision_tower.sam_encoder.layers.0", "model.vision_tower.vision_encoder",
                 "model.vision_tower.vision_encoder.layers.0", "model.multi_modal_projector",
                 "model.language_model", "model.language_model.layers.0", "lm_head"]
        self.assertEqual(vision_parts(names), {
            "model.vision_tower.sam_encoder": "sam", "model.vision_tower.vision_encoder": "clip",
            "model.multi_modal_projector": "projector"})

    def test_a_tower_with_one_part(self):
        names = ["model.vision_tower", "model.vision_tower.vision_model", "model.multi_modal_projector",
                 "model.language_model.projector"]
        self.assertEqual(vision_parts(names), {
            "model.vision_tower": "vision_tower", "model.multi_modal_projector": "projector"})

    def test_a_language_model_has_none(self):
        self.assertEqual(vision_parts(["", "model", "model.layers.0", "lm_head"]), {})

    def test_layers_are_those_of_the_decoder(self):
        names = [f"model.vision_tower.sam_encoder.layers.{i}" for i in range(12)]
        names += [f"model.language_model.layers.{i}" for i in range(3)]
        names += ["model.language_model.layers.0.mlp.experts.0"]
        self.assertEqual(layer_labels(names), {
            f"model.language_model.layers.{i}": f"layer_0{i}" for i in range(3)})
        self.assertEqual(layer_labels(["lm_head"]), {})


class Placeholders(unittest.TestCase):
    def test_the_prompt_keeps_its_length_and_its_number_of_placeholders(self):
        ids = with_placeholders([9, 9, 9, 9, 9, 8], Images(None, token=9, tokens_each=2, count=2))
        self.assertEqual(ids, [9, 9, 9, 9, 1, 8])

    def test_images_need_room(self):
        with self.assertRaisesRegex(UsageFault, "2 images take 4 of them; give at least 5"):
            with_placeholders([1] * 4, Images(None, token=9, tokens_each=2, count=2))


if __name__ == "__main__":
    unittest.main()
