"""packaging/kubernetes: valid objects, and commands that work. The commands run here verbatim, with the volume's folder
and the program replaced."""
import json
import pathlib
import subprocess
import tempfile
import unittest

from job_of_ranks import Run, environment, operators_in, operators_of, write_rank_program
from program import DATA, LLMPROF, ROOT

try:
    import jsonschema
    import yaml
except ImportError as missing:
    raise unittest.SkipTest(f"{missing.name} is not installed: scripts/setup.sh test installs it") from missing

FILES = sorted((ROOT / "packaging" / "kubernetes").glob("*.yaml"))
SCHEMA = json.loads((DATA / "kubernetes" / "objects.schema.json").read_text())
INDEX = "metadata.annotations['batch.kubernetes.io/job-completion-index']"


def objects(path):
    return list(yaml.safe_load_all(path.read_text()))


def job_of(name):
    (job,) = [o for o in objects(ROOT / "packaging" / "kubernetes" / name) if o["kind"] == "Job"]
    return job


class Objects(unittest.TestCase):
    def test_they_are_valid(self):
        self.assertEqual([path.name for path in FILES], ["merge.yaml", "partial.yaml", "record.yaml"])
        for path in FILES:
            for one in objects(path):
                jsonschema.validate(one, SCHEMA)

    def test_invalid_objects_are_refused(self):
        job = job_of("merge.yaml")
        for change in (
            lambda j: j["spec"].update(completion="4"),
            lambda j: j["spec"].update(completions="4"),
            lambda j: j["spec"]["template"]["spec"].update(restartPolicy="Always"),
            lambda j: j["spec"]["template"]["spec"]["containers"][0].update(env=[{"name": "A"}]),
        ):
            damaged = json.loads(json.dumps(job))
            change(damaged)
            with self.assertRaises(jsonschema.ValidationError):
                jsonschema.validate(damaged, SCHEMA)

    def test_they_fit_together(self):
        for path in FILES:
            for job in objects(path):
                if job["kind"] != "Job":
                    continue
                pod = job["spec"]["template"]["spec"]
                volumes = {volume["name"] for volume in pod["volumes"]}
                for container in pod["containers"]:
                    self.assertLessEqual({mount["name"] for mount in container["volumeMounts"]}, volumes)
        record, service = job_of("record.yaml"), objects(FILES[2])[0]
        spec = record["spec"]
        environment = {one["name"]: one.get("value") for one in spec["template"]["spec"]["containers"][0]["env"]}
        self.assertEqual(spec["completions"], spec["parallelism"], "ranks wait for each other")
        self.assertEqual(environment["WORLD_SIZE"], str(spec["completions"]))
        self.assertEqual(job_of("partial.yaml")["spec"]["completions"], spec["completions"])
        self.assertEqual(service["spec"]["selector"], spec["template"]["metadata"]["labels"])
        self.assertEqual(service["metadata"]["name"], spec["template"]["spec"]["subdomain"])
        self.assertEqual(environment["MASTER_ADDR"], f"{record['metadata']['name']}-0.{service['metadata']['name']}")


class Commands(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = pathlib.Path(holder.name)

    def start_pods(self, name, program=None):
        """Runs the containers of a job concurrently; returns their exit codes."""
        job = job_of(name)
        (container,) = job["spec"]["template"]["spec"]["containers"]
        pods = []
        for index in range(job["spec"]["completions"]):
            variables = {}
            for one in container.get("env", []):
                if "valueFrom" in one:
                    self.assertEqual(one["valueFrom"]["fieldRef"]["fieldPath"], INDEX)
                variables[one["name"]] = one.get("value", str(index))
            words = [word.replace("$(RANK)", variables.get("RANK", "")) for word in container["command"]]
            words = [LLMPROF if word.endswith("/bin/llmprof") else word.replace("/profiles", str(self.folder))
                     for word in words]
            if program:
                words = [*words[:words.index("--")], "workload.uses_cuda=false", "--", program]
            pods.append((words, variables))
        running = [subprocess.Popen(list(map(str, words)), env={**environment(), **variables},
                                    stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
                   for words, variables in pods]
        for one in running:
            _, said = one.communicate(timeout=300)
            self.assertEqual(one.returncode, 0, said)

    def test_they_record_reduce_and_merge(self):
        self.start_pods("record.yaml", write_rank_program(self.folder))
        run = Run(self.folder / "job", None)
        self.assertEqual(run.ranks, [0, 1, 2, 3])
        self.start_pods("partial.yaml")
        self.start_pods("merge.yaml")
        profile = json.loads((run.folder / "report" / "profile.json").read_text())
        self.assertEqual(operators_of(profile), operators_in(run.logs))
        self.assertEqual([rank["rank"] for rank in profile["ranks"]], [0, 1, 2, 3])
        self.assertEqual(profile["job"]["world_size"], 4)


if __name__ == "__main__":
    unittest.main()
