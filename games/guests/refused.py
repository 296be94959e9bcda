"""Why some games of pgx are not offered: a sentence each, which `registry.load` shows to those who ask for them."""

DICE = "its dice are thrown inside `step`, where no search can see them; expected chance nodes (docs/adding_a_game.md)"
HIDDEN = "its players do not see each other's cards; boardrl plays games of perfect information"
SOLITAIRE = "it is a game of one player whose tiles are drawn inside `step`"
ARCADE = "it is an arcade game of one player with chance inside `step`"

BACKGAMMON = f"{DICE}, as our own game `backgammon` has them"
BRIDGE = f"four players bid, and {HIDDEN}"
KUHN_POKER = LEDUC_HOLDEM = HIDDEN
MAHJONG = f"three or four players, and {HIDDEN}"
