"""The points of the board and the dice, each player counting from its own side.

Place p of a player is its (p + 1)-point: 0 to 5 is its home board, 23 the opponent's ace point, and BAR the bar. The
opponent's place 23 - p is the same point. A checker moves towards place 0 and then off the board.
"""

from __future__ import annotations

import numpy as np

POINTS = 24
BAR = 24
PLACES = 25  # the points and the bar
HOME = 6  # places of the home board
CHECKERS = 15
FACES = 6

# Two checkers on the 24-point, five on the 13, three on the 8 and five on the 6.
START = np.zeros(PLACES, np.int8)
START[[23, 12, 7, 5]] = [2, 5, 3, 5]

# The outcomes of two dice: the doubles 1-1 to 6-6, then 2-1, 3-1, 3-2, … 6-5.
DOUBLES = FACES
ROLLS = tuple((face, face) for face in range(1, FACES + 1)) + tuple(
    (high, low) for high in range(2, FACES + 1) for low in range(1, high)
)
HIGH, LOW = (np.array(faces, np.int8) for faces in zip(*ROLLS, strict=True))
ODDS = np.where(HIGH == LOW, 1 / 36, 2 / 36).astype(np.float32)
OPENING_ODDS = np.where(HIGH == LOW, 0, 1 / 15).astype(np.float32)  # ties are rolled again
STARTER_ODDS = np.where(np.arange(len(ROLLS)) < 2, 1 / 2, 0).astype(np.float32)  # outcome 0: seat 0 begins; 1: seat 1
