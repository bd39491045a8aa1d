/* What the ANE refuses or does silently otherwise, as rows: operation, chips, stage, predicate, rule, source. The rows
 * stand by family in legality_<family>.c; mil/legalize/legality.h refuses by them, mw_chip_report_create reports all of
 * them.
 *
 * A row holds for the chips of its set. MW__ON_ANY in it: also where no chip is named; without it a program for "every
 * chip" is not held to the row, as it may run on another one. */
#ifndef MW__RULES_LEGALITY_H
#define MW__RULES_LEGALITY_H

#include "base/visible.h"
#include "graph/ir/device_traits.h"
#include "graph/ir/ir.h"
#include "passes/rule.h"
#include "rules/chips.h"

/* ---- what is asked about ---- */

/* Who decides whether the ANE takes an operation. */
typedef enum mw__judge {
    MW__JUDGE_DIRECT, /* the ANE's compiler, which is given the whole program */
    MW__JUDGE_COREML /* the planner of Core ML: offers operations to the ANE one by one, leaves the others to the CPU */
} mw__judge;

/* For what a program is made legal, and what is known of its values before it is. */
typedef struct mw__legality {
    const mw__device_traits *device;
    const mw__chip_row *chip; /* NULL = every chip */
    mw__judge judge;
    const bool *half; /* by value id: an int32 value that will be fp16 on this device; NULL = none */
    size_t count;
} mw__legality;

/* The chip's row, that of every chip if none is named. */
MW__SIBLING const mw__chip_row *mw__legality_chip(const mw__legality *legality);
bool mw__legality_half(const mw__legality *legality, const mw_tensor *value);

/* ---- rows ---- */

#define MW__ON(chip) (1u << (chip))
#define MW__ON_ANY   MW__ON(MW_CHIP_AUTO)
enum {
    MW__ON_H11 = MW__ON(MW_CHIP_H11),
    MW__ON_H12 = MW__ON(MW_CHIP_H12),
    MW__ON_H13 = MW__ON(MW_CHIP_H13),
    MW__ON_H14 = MW__ON(MW_CHIP_H14),
    MW__ON_H15 = MW__ON(MW_CHIP_H15),
    MW__ON_H16 = MW__ON(MW_CHIP_H16),
    MW__ON_H17 = MW__ON(MW_CHIP_H17),
    MW__ON_H18 = MW__ON(MW_CHIP_H18),
    MW__ON_H18G = MW__ON(MW_CHIP_H18G),
    MW__ON_H19 = MW__ON(MW_CHIP_H19),
    MW__ON_OLDER = MW__ON_H11 | MW__ON_H12, /* they run no MIL */
    MW__ON_BELOW_H14 = MW__ON_OLDER | MW__ON_H13,
    MW__ON_BELOW_H15 = MW__ON_BELOW_H14 | MW__ON_H14,
    MW__ON_BELOW_H16 = MW__ON_BELOW_H15 | MW__ON_H15,
    MW__ON_NAMED = MW__ON_BELOW_H16 | MW__ON_H16 | MW__ON_H17 | MW__ON_H18 | MW__ON_H18G | MW__ON_H19,
    MW__ON_FROM_H15 = MW__ON_NAMED & ~MW__ON_BELOW_H15,
    /* whose windows and extents were swept: M4 (h16g) and M6 (h18g). h18 and h19 are of their families; h17, which lies
     * between them, was not swept, and no row says of it what nobody saw */
    MW__ON_SWEPT = MW__ON_H16 | MW__ON_H18 | MW__ON_H18G | MW__ON_H19,
    MW__ON_NOT_SWEPT = MW__ON_NAMED & ~MW__ON_SWEPT,
    MW__ON_ALL = MW__ON_ANY | MW__ON_NAMED
};

/* Where a program stops, or does not. */
typedef enum mw__stage {
    MW__STAGE_VALIDATOR, /* Apple's check of a layer, before anything is generated */
    MW__STAGE_LOWERING,  /* code generation, whatever the validator said */
    MW__STAGE_LOAD,      /* the program compiles and is refused when it is loaded or run */
    MW__STAGE_RUN,       /* it runs, and its numbers are others */
    MW__STAGE_PLANNER    /* Core ML does not offer it to the ANE: it runs on the CPU */
} mw__stage;

typedef enum mw__verdict {
    MW__REFUSED,
    MW__WARNED, /* it runs, not as it should */
    MW__NOTED   /* worth knowing; nothing goes wrong by it, or sources disagree and say so */
} mw__verdict;

/* By whom a row was seen to hold. */
typedef enum mw__judges { MW__BY_BOTH, MW__BY_DIRECT, MW__BY_COREML } mw__judges;

/* What a predicate found. */
typedef struct mw__trip {
    const mw_tensor *tensor; /* at fault; NULL = the first result */
    int64_t limit, there;    /* of a rule with numbers */
    const char *what;        /* of one with a word: a type, a mode */
} mw__trip;

/* True: the row holds here. Programs may be wrong in anything; predicates read what is there. */
typedef bool mw__legality_op(const mw__legality *legality, const mw__op *op, mw__trip *trip);
typedef bool mw__legality_port(const mw__legality *legality, const mw_tensor *port, bool is_output, mw__trip *trip);
typedef bool mw__legality_function(const mw__legality *legality, const mw__function *function, mw__trip *trip);

typedef struct mw__legality_row {
    const char *id;
    const char *const *operations; /* up to NULL; NULL = any */
    unsigned chips;                /* MW__ON_* */
    mw__judges judges;
    mw__stage stage;
    mw__verdict verdict;
    /* one of the three */
    mw__legality_op *op;
    mw__legality_port *port;
    mw__legality_function *function;
    const char *rule;      /* with a hint; {limit}, {there} and {what} stand for what was found */
    const char *validator; /* Apple's words as recorded, or NULL */
    const char *source;    /* if several disagree, each of them, and which is taken */
    mw__rule_id rewrite;   /* the rewrite, pass or analysis that stands for it; MW__RULE_NONE = none */
} mw__legality_row;

typedef struct mw__legality_family {
    const char *name;
    const mw__legality_row *rows;
    size_t count;
} mw__legality_family;

/* Families in order, and so the rows: of several that hold, the first refuses. NULL beyond the last. */
const mw__legality_family *mw__legality_family_at(size_t index);
/* All rows in that order; NULL beyond the last. */
const mw__legality_row *mw__legality_at(size_t index);

/* ---- asking ---- */

/* Called for each row that holds; false ends the search. */
typedef bool mw__legality_sink(void *user, const mw__legality_row *row, const mw__trip *trip);

/* Each returns false if the sink ended it. A device that is no chip refuses nothing. */
MW__SIBLING bool mw__legality_ask_op(const mw__legality *legality, const mw__op *op, mw__legality_sink *sink,
                                     void *user);
bool mw__legality_ask_port(const mw__legality *legality, const mw_tensor *port, bool is_output, mw__legality_sink *sink,
                           void *user);
MW__SIBLING bool mw__legality_ask_function(const mw__legality *legality, const mw__function *function,
                                           mw__legality_sink *sink, void *user);

/* True if a row that names that rewrite holds for the operation on a chip that is named. */
bool mw__legality_names_rewrite(const mw__legality *legality, const mw__op *op, mw__rule_id rewrite);

/* The rule with what was found in it. Returns its length; `out` is terminated. */
MW__SIBLING size_t mw__legality_describe(const mw__legality_row *row, const mw__trip *trip, char *out, size_t size);

/* ---- for the families ---- */

#define MW__OPERATIONS(...)                                                                                            \
    (const char *const[]) { __VA_ARGS__, NULL }

/* A row of an operation that no chip has. */
#define MW__NO_CHIP(operation_, rewrite_)                                                                              \
    {                                                                                                                  \
        .id = operation_, .operations = MW__OPERATIONS(operation_), .chips = MW__ON_ALL, .stage = MW__STAGE_LOWERING,  \
        .op = mw__legality_always, .rule = "the ANE does not run it",                                                  \
        .source = "operation sweep of ANEForge on the ANE", .rewrite = MW__RULE_##rewrite_                             \
    }

mw__legality_op mw__legality_always;
/* The study that swept M4 and M6, as it stands in sources. */
#define MW__SWEEP    "M6 study, section 5.2"
#define MW__SWEEP_M4 MW__SWEEP ", Core ML on M4. Taken for every chip: the planner is software of the host"
/* The first value of an argument, by name; also for operations without a row. NULL if it is absent. */
MW__SIBLING const mw_tensor *mw__legality_argument(const mw__op *op, const char *name);
/* Its shape; of rank 0 if there is none. */
mw_shape mw__legality_shape(const mw__op *op, const char *name);
/* True for a value that is no constant. */
bool mw__legality_computed(const mw_tensor *value);

/* True if an axis is longer than the chip takes; fills *trip. */
bool mw__legality_is_long(const mw__legality *legality, const mw_tensor *value, mw__trip *trip);

extern const mw__legality_family mw__legality_program, mw__legality_gather, mw__legality_conv, mw__legality_matmul,
    mw__legality_elementwise, mw__legality_reduce, mw__legality_shape_rules, mw__legality_random, mw__legality_ports;

/* ---- what rewrites ask, whose row holds for another operation ---- */

/* A square that a nonlinearity may not follow. */
bool mw__legality_square_is_wide(const mw__op *op, mw__trip *trip);

#endif
