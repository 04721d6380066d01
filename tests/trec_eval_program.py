"""trec_eval's own program, as its `main` runs it: the C that pytrec_eval carries, called function by function.

pytrec_eval carries version 9, which reads and prints as version 10 does but compares scores in single precision, and
lacks dcg, ideal_dcg, rbp, rbp_resid and unj. The C keeps what it read, so each run is a process of its own.
"""

import ctypes
import json
import subprocess
import sys
from ctypes import POINTER, Structure, byref, c_char_p, c_int, c_long, c_void_p, cast

from preferences_trec_eval import LIBRARY, AllRelevance, AllResults, Evaluation, MeasureOfC, Settings, Value

READERS = {name: f"te_get_{name}" for name in ("qrels", "qrels_jg", "prefs", "qrels_prefs")}


class Argument(Structure):  # MEAS_ARG
    _fields_ = [("name", c_char_p), ("parameters", c_char_p)]


def trec_eval(judgments_file, run_file, measures, **options):
    """What trec_eval prints; options : fields of its settings, and `format`."""
    request = json.dumps([str(judgments_file), str(run_file), list(measures), options])
    done = subprocess.run([sys.executable, __file__, request], check=True, capture_output=True)
    return done.stdout.decode()


def call(function, *arguments):
    kind = ctypes.CFUNCTYPE(c_int, *[c_void_p] * len(arguments))
    return kind(function)(*(cast(byref(one), c_void_p) for one in arguments))


def main(judgments_file, run_file, measures, options):
    form = options.pop("format", "qrels")
    settings = Settings(
        **{"summary_flag": 1, "relation_flag": 1, "relevance_level": 1, "max_num_docs_per_topic": 2**62, **options}
    )
    settings.rel_info_format, settings.results_format = form.encode(), b"trec_results"
    given = [measure.partition(".") for measure in measures]
    arguments = (Argument * (len(given) + 1))(*((name.encode(), rest.encode()) for name, dot, rest in given if dot))
    settings.meas_arg = cast(arguments, c_void_p)
    relevance, results = AllRelevance(), AllResults()
    assert getattr(LIBRARY, READERS[form])(byref(settings), judgments_file.encode(), byref(relevance)) == 1
    assert LIBRARY.te_get_trec_results(byref(settings), run_file.encode(), byref(results)) == 1
    known = (POINTER(MeasureOfC) * c_long.in_dll(LIBRARY, "te_num_trec_measures").value).in_dll(
        LIBRARY, "te_trec_measures"
    )
    names = {name for name, _, _ in given}
    requested = [one.contents for one in known if one.contents.name.decode() in names]
    assert {one.name.decode() for one in requested} == names
    total = Evaluation(qid=b"all")
    for measure in requested:
        assert call(measure.init, settings, measure, total) == 1
    one_topic = (Value * total.num_values)()
    for i in range(total.num_values):
        one_topic[i].name = total.values[i].name
    judged = {relevance.info[i].qid: relevance.info[i] for i in range(relevance.n)}
    for result in (results.results[i] for i in range(results.n)):
        if result.qid not in judged:
            continue
        for value in one_topic:
            value.value = 0
        topic = Evaluation(result.qid, 0, cast(one_topic, POINTER(Value)), total.num_values, total.num_values)
        for measure in requested:
            assert call(measure.calc, settings, judged[result.qid], result, measure, topic) >= 0
        for measure in requested:
            assert call(measure.acc, settings, measure, topic, total) == 1
            if settings.query_flag:
                call(measure.print_single, settings, measure, topic)
        total.num_queries += 1
    for measure in requested:
        call(measure.average, settings, measure, relevance, total)
        call(measure.print_final, settings, measure, total)
    ctypes.CDLL(None).fflush(None)


if __name__ == "__main__":
    main(*json.loads(sys.argv[1]))
