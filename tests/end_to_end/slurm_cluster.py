"""A real Slurm on this machine only: munged, slurmctld and slurmd in the foreground, in a separate folder."""
import os
import pathlib
import secrets
import shutil
import socket
import subprocess
import tempfile
import time
import unittest

PATIENCE = 60  # s
PROGRAMS = ("munged", "slurmctld", "slurmd", "srun", "sbatch", "sinfo")

CONFIGURATION = """ClusterName=llmprof-test
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={controller_port}
SlurmdPort={node_port}
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
CredType=cred/munge
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SwitchType=switch/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
MailProg=/bin/true
KillWait=2
ReturnToService=2
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
NodeName={host} NodeAddr=127.0.0.1 CPUs={cores} State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP OverSubscribe=FORCE:16
"""


def find(name):
    """Daemons are in a folder that may be missing in users' PATH."""
    return shutil.which(name, path=os.environ.get("PATH", "") + ":/usr/sbin:/sbin")


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


class SlurmCluster:
    """Raises unittest.SkipTest with the reason if it cannot start."""

    def __init__(self):
        missing = [name for name in PROGRAMS if find(name) is None]
        if missing:
            raise unittest.SkipTest(
                f"Slurm is not installed ({', '.join(missing)}): scripts/setup.sh test installs slurm-wlm and munge")
        if os.geteuid() != 0:
            raise unittest.SkipTest("Slurm's daemons are started by root alone")
        self.holder = tempfile.TemporaryDirectory(prefix="slurm-")
        self.folder = pathlib.Path(self.holder.name)
        self.daemons = []
        try:
            self.start()
        except BaseException:
            self.stop()
            raise

    def start(self):
        host = socket.gethostname().split(".")[0]
        (self.folder / "state").mkdir()
        (self.folder / "spool").mkdir()
        key = self.folder / "munge.key"
        key.write_bytes(secrets.token_bytes(64))
        key.chmod(0o400)
        self.conf = self.folder / "slurm.conf"
        self.conf.write_text(CONFIGURATION.format(
            host=host, folder=self.folder, cores=os.cpu_count(), controller_port=free_port(), node_port=free_port()))
        self.run_daemon("munged", "--foreground", "--force", f"--key-file={key}",
                        f"--socket={self.folder}/munge.socket", f"--pid-file={self.folder}/munged.pid",
                        f"--log-file={self.folder}/munged.log", f"--seed-file={self.folder}/munge.seed")
        self.wait_for("munged", lambda: (self.folder / "munge.socket").exists())
        self.run_daemon("slurmctld", "-D", "-c")
        self.run_daemon("slurmd", "-D", "-c", "-N", host)
        self.wait_for("a node that is idle", self.is_idle)

    def run_daemon(self, name, *options):
        with open(self.folder / f"{name}.out", "wb") as output:
            self.daemons.append(subprocess.Popen([find(name), *options], stdout=output, stderr=output,
                                                 stdin=subprocess.DEVNULL, env={**os.environ, **self.variables}))

    @property
    def variables(self):
        return {"SLURM_CONF": str(self.conf)}

    def is_idle(self):
        nodes = subprocess.run(["sinfo", "-h", "-o", "%T"], capture_output=True, text=True, check=False,
                               env={**os.environ, **self.variables})
        return nodes.stdout.strip() == "idle"

    def wait_for(self, what, is_there):
        end = time.monotonic() + PATIENCE
        while not is_there():
            ended = [daemon.args[0] for daemon in self.daemons if daemon.poll() is not None]
            if ended or time.monotonic() > end:
                said = "".join(f"\n{path.name}: {path.read_text(errors='replace')[-500:]}"
                               for path in sorted(self.folder.glob("*.out")) + sorted(self.folder.glob("*.log")))
                raise unittest.SkipTest(f"Slurm does not start here: no {what}; ended: {ended}{said}")
            time.sleep(0.1)

    def stop(self):
        for daemon in reversed(self.daemons):
            daemon.terminate()
        for daemon in reversed(self.daemons):
            try:
                daemon.wait(timeout=PATIENCE)
            except subprocess.TimeoutExpired:
                daemon.kill()
                daemon.wait()
        self.holder.cleanup()
