"""Collections on disk, partitioned by topic: written in a stream, opened without reading them."""

from qrowd.partitions.collection import SURVEY as SURVEY
from qrowd.partitions.collection import Collection as Collection
from qrowd.partitions.collection import PartitionedJudgments as PartitionedJudgments
from qrowd.partitions.collection import PartitionedRuns as PartitionedRuns
from qrowd.partitions.collection import open_collection as open_collection
from qrowd.partitions.writing import CollectionWriter as CollectionWriter
from qrowd.partitions.writing import write_collection as write_collection
