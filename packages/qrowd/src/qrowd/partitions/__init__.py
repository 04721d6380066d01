"""Runs and judgments on disk, partitioned by topic: written in a stream, opened without reading them."""

from qrowd.partitions.collection import PartitionedCollection as PartitionedCollection
from qrowd.partitions.collection import PartitionedJudgments as PartitionedJudgments
from qrowd.partitions.collection import PartitionedRuns as PartitionedRuns
from qrowd.partitions.collection import is_partitioned as is_partitioned
from qrowd.partitions.collection import open_partitioned as open_partitioned
from qrowd.partitions.writing import write_partitioned as write_partitioned
