"""trec_eval's own prefs_* measures, run from the C that pytrec_eval carries but does not offer.

The C stops the whole process where it meets a contradiction, and keeps what it read, so each run is a process of its
own: `python preferences_trec_eval.py prefs|qrels_prefs JUDGMENTS RUN MEASURE ...` prints {topic: {measure: value}}.
"""

import ctypes
import json
import subprocess
import sys
from ctypes import POINTER, Structure, byref, c_char_p, c_double, c_long, c_void_p, cast

import pytrec_eval_ext

LIBRARY = ctypes.CDLL(pytrec_eval_ext.__file__)
CALCULATE = ctypes.CFUNCTYPE(ctypes.c_int, c_void_p, c_void_p, c_void_p, c_void_p, c_void_p)


class Settings(Structure):  # EPI
    _fields_ = [
        ("query_flag", c_long), ("summary_flag", c_long), ("debug_level", c_long), ("debug_query", c_char_p),
        ("relation_flag", c_long), ("average_complete_flag", c_long), ("judged_docs_only_flag", c_long),
        ("num_docs_in_coll", c_long), ("relevance_level", c_long), ("max_num_docs_per_topic", c_long),
        ("rel_info_format", c_char_p), ("results_format", c_char_p), ("zscore_flag", c_long), ("meas_arg", c_void_p),
    ]  # fmt: skip


class Value(Structure):  # TREC_EVAL_VALUE
    _fields_ = [("name", c_char_p), ("value", c_double)]


class Evaluation(Structure):  # TREC_EVAL
    _fields_ = [
        ("qid", c_char_p), ("num_queries", c_long), ("values", POINTER(Value)), ("num_values", c_long),
        ("max_num_values", c_long),
    ]  # fmt: skip


class Results(Structure):  # RESULTS
    _fields_ = [("qid", c_char_p), ("run_id", c_char_p), ("ret_format", c_char_p), ("q_results", c_void_p)]


class AllResults(Structure):
    _fields_ = [("n", c_long), ("room", c_long), ("results", POINTER(Results))]


class Relevance(Structure):  # REL_INFO
    _fields_ = [("qid", c_char_p), ("rel_format", c_char_p), ("q_rel_info", c_void_p)]


class AllRelevance(Structure):
    _fields_ = [("n", c_long), ("room", c_long), ("info", POINTER(Relevance))]


class MeasureOfC(Structure):  # TREC_MEAS
    _fields_ = [
        ("name", c_char_p), ("explanation", c_char_p), ("init", c_void_p), ("calc", c_void_p), ("acc", c_void_p),
        ("average", c_void_p), ("print_single", c_void_p), ("print_final", c_void_p), ("params", c_void_p),
        ("eval_index", c_long),
    ]  # fmt: skip


def trec_eval(names, judgments_file, run_file, kind="prefs"):
    """{topic: {measure: value}} of one run; kind : the format of the judgments, "prefs" or "qrels_prefs"."""
    arguments = [sys.executable, __file__, kind, str(judgments_file), str(run_file), *names]
    return json.loads(subprocess.run(arguments, check=True, capture_output=True, text=True).stdout)


def calculated(kind, judgments_file, run_file, *names):
    settings = Settings(max_num_docs_per_topic=2**62, relevance_level=1)
    relevance, results = AllRelevance(), AllResults()
    read = LIBRARY.te_get_prefs if kind == "prefs" else LIBRARY.te_get_qrels_prefs
    assert read(byref(settings), judgments_file.encode(), byref(relevance)) == 1
    assert LIBRARY.te_get_trec_results(byref(settings), run_file.encode(), byref(results)) == 1
    said = {relevance.info[i].qid: relevance.info[i] for i in range(relevance.n)}
    found = (results.results[i] for i in range(results.n))
    return {
        one.qid.decode(): {name: value_of(f"te_meas_{name}", settings, said[one.qid], one) for name in names}
        for one in found
        if one.qid in said
    }


def value_of(name, settings, said, found):
    measure = MeasureOfC.in_dll(LIBRARY, name)
    values = (Value * 1)()
    evaluation = Evaluation(values=values, num_values=1, max_num_values=1)
    measure.eval_index = 0
    arguments = (cast(byref(one), c_void_p) for one in (settings, said, found, measure, evaluation))
    assert CALCULATE(measure.calc)(*arguments) == 1
    return values[0].value


if __name__ == "__main__":
    print(json.dumps(calculated(*sys.argv[1:])))
