"""Rooms: a topic and its assessors, who judge pairs without a server."""

import json

import numpy as np

from oracles import boards as oracle
from qrowd_server.protocols.board import Board
from qrowd_server.protocols.events import Event, MarkBad, Prefer
from qrowd_server.protocols.preference_protocol import PreferenceProtocol
from qrowd_server.protocols.views import PairView

PREFERENCE = PreferenceProtocol()


def of_kind(rows, kind):
    """The rows of one class."""
    return tuple(row for row in rows if isinstance(row, kind))


def judges_of(board, fact):
    """Which assignments have judged the pair of a fact."""
    return [other.assignment for other in board.facts if {other.first, other.second} == {fact.first, fact.second}]


class Room:
    """A topic and those who judge it: what the server does with a protocol, without the server."""

    def __init__(self, material, options, seed=0, checked=True):
        self.material, self.options, self.seed, self.checked = material, options, seed, checked
        self.tasks, self.states, self.log = {}, {}, []
        self.boards, self.clock, self.most = {}, 0.0, {}

    def key(self, one):
        return "all" if self.options.sharing == "shared" else one

    def board(self, one):
        new = Board(self.material.documents, self.options.pair_redundancy, infer=self.options.infer)
        return self.boards.setdefault(self.key(one), new).for_assignment(one)

    def logged(self, one):
        return [entry for entry in self.log if self.key(entry[0]) == self.key(one)]

    def take(self, one, events):
        for event in events:
            event = Event(event.kind, json.loads(json.dumps(event.data)))
            self.log.append((one, event, self.clock))
            self.boards[self.key(one)] = self.board(one).after(one, event, self.clock)
            self.states[one] = PREFERENCE.evolve(self.tasks[one], self.states[one], event, self.clock)
            if event.kind == "undone":
                self.most.pop(one, None)  # as many pairs can come as before the answer
            if event.kind == "offered" and self.checked:
                self.check_offer(one, event)
        for event in events:
            if event.kind == "marked_bad":
                document = event.data["document"]
                for other in self.board(one).holders(document):
                    self.resume(other, document)

    def check_offer(self, one, event):
        pair = {event.data["left"], event.data["right"]}
        log = self.logged(one)
        assert not pair & oracle.bad(log)
        asked = [set(other) for other in oracle.offers(log).values()]
        assert asked.count(pair) <= self.options.pair_redundancy
        still = oracle.open_pairs(self.material.documents, log, self.redundancy, self.options.infer)
        assert pair in [set(other) for other in still]
        assert 1 <= event.data["at_most"] <= self.most.get(one, np.inf)
        self.most[one] = event.data["at_most"]

    @property
    def redundancy(self):
        return self.options.pair_redundancy

    def resume(self, one, removed=None):
        events = PREFERENCE.resume(self.tasks[one], self.states[one], self.board(one), self.clock, removed)
        self.take(one, events)
        return events

    def enter(self, one):
        self.tasks[one] = PREFERENCE.task(self.options, self.material, self.seed * 100 + one)
        self.states[one] = PREFERENCE.new(self.tasks[one], self.clock)
        self.resume(one)

    def act(self, one, action, wait=1.0):
        self.clock += wait
        board = self.board(one)
        events = PREFERENCE.decide(self.tasks[one], self.states[one], action, self.clock, board)
        self.take(one, events)
        return events

    def view(self, one):
        return PREFERENCE.view(self.tasks[one], self.states[one])

    def rows(self, one):
        return PREFERENCE.rows(self.tasks[one], self.states[one])

    def at_work(self):
        return [one for one in self.states if isinstance(self.view(one), PairView)]

    def answer(self, one, answers, rng):
        """What an assessor who knows the truth says of the pair on the page."""
        view = self.view(one)
        places = self.board(one).places
        left, right = places[view.left], places[view.right]
        if view.may_mark_bad and answers.bad[[left, right]].any():
            both = answers.bad[left] and answers.bad[right]
            side = "left" if answers.bad[left] and not (both and rng.random() < 0.5) else "right"
            return MarkBad(view.pair, side)
        if view.duplicates and rng.random() < 0.1:
            return Prefer(view.pair, "duplicates")
        return Prefer(view.pair, "left" if answers.wins[left, right] else "right", bool(rng.random() < 0.3), 1.5)
