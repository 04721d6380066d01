"""TREC's text formats, to the model, and from it: runs, qrels and preferences."""

from qrowd.trec.formats import PREFERENCES as PREFERENCES
from qrowd.trec.formats import QRELS as QRELS
from qrowd.trec.formats import RUN as RUN
from qrowd.trec.formats import TAGGED_RUN as TAGGED_RUN
from qrowd.trec.formats import Format as Format
from qrowd.trec.formats import mistakes as mistakes
from qrowd.trec.preference_files import PreferenceFormat as PreferenceFormat
from qrowd.trec.preference_files import preference_format as preference_format
from qrowd.trec.preference_files import preferences_from as preferences_from
from qrowd.trec.reading import Fields as Fields
from qrowd.trec.reading import Parsed as Parsed
from qrowd.trec.reading import judgments_from as judgments_from
from qrowd.trec.reading import number_labels as number_labels
from qrowd.trec.reading import parse as parse
from qrowd.trec.reading import runs_from as runs_from
from qrowd.trec.reading import split as split
from qrowd.trec.writing import checked_label as checked_label
from qrowd.trec.writing import format_preferences as format_preferences
from qrowd.trec.writing import format_qrels as format_qrels
from qrowd.trec.writing import format_run as format_run
from qrowd.trec.writing import qrels_line as qrels_line
