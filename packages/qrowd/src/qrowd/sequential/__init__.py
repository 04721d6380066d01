"""Ask as few people as possible: what to judge next, and a statement that holds however often one looks at it.

next_judgments                  the answer so far to a question about systems, and the documents to judge next
Question                        A > B, which is best, is C among the best, how do all rank
write_batch                     the documents as a table, tasks of Label Studio, or the folder of a campaign
write_design, read_design       what was drawn, with what probabilities: stored with each batch, read at the next call

Waudby-Smith & Ramdas (2020), Confidence sequences for sampling without replacement, NeurIPS; Waudby-Smith, Arbour,
Sinha, Kennedy & Ramdas (2024), Time-uniform central limit theory and asymptotic confidence sequences, Ann. Stat. 52(6);
Zrnic & Candès (2024), Active statistical inference, ICML.
"""

from qrowd.sequential.batches import write_batch
from qrowd.sequential.design import Design, read_design, write_design
from qrowd.sequential.next_judgments import next_judgments
from qrowd.sequential.question import Question

__all__ = [
    "Design",
    "Question",
    "next_judgments",
    "read_design",
    "write_batch",
    "write_design",
]
