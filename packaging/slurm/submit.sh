#!/bin/bash
# Records a job, reduces each rank by itself and merges the ranks: three Slurm jobs, one after the other.
#   submit.sh JOB_FOLDER RANKS PROGRAM [ARGUMENT...]
# Options for the recording job are in RECORD_OPTIONS: RECORD_OPTIONS="--nodes=2 --gpus-per-node=8" submit.sh ...
set -euo pipefail
if [[ $# -lt 3 ]]; then
  echo "usage: submit.sh JOB_FOLDER RANKS PROGRAM [ARGUMENT...]" >&2
  exit 2
fi
here=$(cd "$(dirname "$0")" && pwd)
export JOB_FOLDER=$1 PROGRAM=$3
ranks=$2
shift 3
read -r -a record_options <<<"${RECORD_OPTIONS:-}"
record=$(sbatch --parsable --ntasks="$ranks" "${record_options[@]}" "$here/record.sbatch" "$@")
# afterany: if a rank died, there is still a report, which says so.
partial=$(sbatch --parsable --array="0-$((ranks - 1))" --dependency="afterany:${record%%;*}" "$here/partial.sbatch")
merge=$(sbatch --parsable --dependency="afterany:${partial%%;*}" "$here/merge.sbatch")
echo "recording ${record%%;*}, reducing ${partial%%;*}, merging ${merge%%;*}; the report will be $JOB_FOLDER/report"
