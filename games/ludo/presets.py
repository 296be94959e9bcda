"""Settings of papers on Ludo, by algorithm and by the paper's name: `--preset` of `launch.train`."""

from __future__ import annotations

from typing import Any

PRESETS: dict[str, dict[str, dict[str, Any]]] = {
    # alhajry2012, section IV. It trains one game after another; the games side by side are few, so that little is
    # learned at once. Its two other settings: --opponents=mixed,mixed and --opponents=random,random, who keep their
    # seats ("we fixed the player positions during training").
    "td_lambda": {
        "alhajry2012": {
            "games": 100_000,
            "rotate_opponents": False,
            "lanes": 8,
            "window": 8,
            "hidden": (20,),
            "activation": "sigmoid",
            "decay": 0.7,
            "epsilon": 0.0,
            "learning_rate": 0.2,
            "anneal_learning_rate": False,
            "optimizer": "sgd",
            "loss": "squared",
            "encoding": "alhajry_objective",
            "fixed_seats": True,
            "separate": True,
            "utility": "margin",
        }
    },
    # alhajry2012, section V; how many hidden units and which activation is not said beyond "20 hidden layers".
    "q_strategies": {
        "alhajry2012": {
            "games": 100_000,
            "strategies": "defensive(prefer_release=false),aggressive(prefer_release=false),fast(prefer_release=false),"
            "random,random(prefer_release=true)",
            "lanes": 16,  # few, as the paper learns from every decision by itself
            "window": 8,
            "inputs": "alhajry_subjective",
            "hidden": (20,),
            "activation": "sigmoid",
            "rewards": "release=0.25,defend=0.2,knock=0.15,foremost=0.1,blockade=0.05,win=1,lost=-0.25,lose=-1",
            "discount": 0.95,
            "steps": 1,
            "epsilon": 0.9,
            "epsilon_end": 0.0,
            "epsilon_games": 30_000,
            "optimizer": "sgd",
            "learning_rate": 0.5,
            "learning_rate_end": 0.5,
        }
    },
    # szurkowski2021, sections 2.3 to 2.6. Not said: how often the networks are copied, and by which optimizer they
    # learn; its "blockade on a surrounded piece" is read as one in danger. A step of learning after each decision of
    # the learner.
    "dqn": {
        "szurkowski2021": {
            "games": 250,
            "opponents": "random,random,random",
            "lanes": 1,
            "window": 4,
            "inputs": "szurkowski_from_mover",
            "hidden": (21,),
            "activation": "tanh",
            "output": "relu",
            "rewards": "win=1,release=0.25,blockade_in_danger=0.2,knock=0.15,foremost_outside=0.1,blockade=0.05,"
            "globe_on_way=0.12,star_jump=0.17,lost=-0.25,lose=-1",
            "discount": 0.95,
            "steps": 1,
            "double": False,
            "epsilon": 0.95,
            "epsilon_end": 0.05,
            "epsilon_games": 250,
            "capacity": 1200,
            "warm_up": 1200,
            "batch": 1200,
            "learning_steps": 1,
            "copy_every": 100,
            "optimizer": "sgd",
            "learning_rate": 0.005,
            "learning_rate_end": 0.005,
            "pretrain_from": "mixed",
            "pretrain_games": 4,
            "pretrain_epochs": 200,
            "pretrain_batch": 50,
            "pretrain_learning_rate": 0.1,
        }
    },
    "q_table": {
        # Generation 81 of derakhshan2010, in which not to be hit is worth 0. It plays at random while it learns; that
        # the other seats do the same and do not learn is our reading.
        "derakhshan2010": {
            "games": 200_000,
            "learners": 1,
            "encoding": "derakhshan",
            "joint": True,
            "among": "random",
            "entries": 1 << 19,
            "rewards": "lost=-0.12,knock=0.73,near_enemy=-0.15,safe_zone=0.67,goal=0.48,star=0.6,globe=0.09",
            "discount": 0.34,
            "learning_rate": 0.41,
            "learning_rate_end": 0.41,
            "epsilon": 1.0,
            "epsilon_end": 1.0,
            "games_per_update": 1000,
        },
        # Durocher's tables as szurkowski2021 describes them, one for each piece: a move is of one kind, the first that
        # fits of those in the order of `durocher` (which is ours), and has the reward of that kind.
        "szurkowski2021": {
            "games": 100,
            "opponents": "random,random,random",
            "learners": 1,
            "encoding": "durocher_by_piece",
            "joint": False,
            "among": "random(prefer_release=true)",
            "entries": 256,
            "rewards": "release=0.25,goal=0.9,overshoot=0,knock=0.5,star_jump=0.5,globe_on_way=0.4,goal_zone=0.4,"
            "blockade=0.2,moved=0.0001",
            "exclusive": True,
            "discount": 0.6,
            "learning_rate": 0.4,
            "learning_rate_end": 0.4,
            "epsilon": 0.0,
            "epsilon_end": 0.0,
            "games_per_update": 1,
        },
    },
    "genetic": {
        "saederup2010": {
            "games": 16_500_000,  # 16,500 generations
            "genome": "truth_table(encoding=saederup,hidden=3,error=0.01)",
            "population": 4,
            "games_per_generation": 1000,
            "memory": 0.0,
            "parents": 2,
            "children": 1,
            "crossover": "single_point",
            "mutated": 0.4,
            "mutation_least": 0.0,
            "mutation_most": 0.4,
            "islands": 1,
        },
        # The first recipe, made by hand, is not printed: ours has half of the most that each gene can be.
        "derakhshan2010": {
            "games": 810_000,  # 81 generations
            "genome": "reward_recipe(preset=derakhshan2010)",
            "population": 4,
            "games_per_generation": 10_000,
            "memory": 0.0,
            "parents": 2,
            "children": 1,
            "crossover": "single_point",
            "mutated": 0.4,
            "mutation_least": 0.1,
            "mutation_most": 0.3,
            "first": (0.5, 0.5, 0.5, -0.5, 0.5, -0.5, 0.5, 0.5, 0.5, 0.5),
            "islands": 1,
        },
    },
}
