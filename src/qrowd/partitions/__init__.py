"""Collections on disk, partitioned by topic: written in a stream, opened without reading them."""

from qrowd.partitions.collection import PartitionedCollection as PartitionedCollection
from qrowd.partitions.collection import PartitionedJudgments as PartitionedJudgments
from qrowd.partitions.collection import PartitionedRuns as PartitionedRuns
from qrowd.partitions.collection import open_partitioned as open_partitioned
from qrowd.partitions.compacting import compact_partitioned as compact_partitioned
from qrowd.partitions.extending import PartitionExtender as PartitionExtender
from qrowd.partitions.extending import write_added as write_added
from qrowd.partitions.score_files import open_scores as open_scores
from qrowd.partitions.score_files import write_scores as write_scores
from qrowd.partitions.survey_files import SURVEY as SURVEY
from qrowd.partitions.survey_files import survey_state as survey_state
from qrowd.partitions.writing import PartitionWriter as PartitionWriter
from qrowd.partitions.writing import write_partitioned as write_partitioned
