/* Passes and what they find out, rewrites of graphs and patterns of kernels by number: what can be named, counted and
 * left out. The rows stand in pipeline.def, rewrites.def and patterns.def. */
#ifndef MW__PASSES_RULE_H
#define MW__PASSES_RULE_H

#include <millwright/types.h>

typedef enum mw__rule_id {
    MW__RULE_NONE,
#define MW_PASS(stage, id, ...) MW__RULE_##id,
#define MW_ANALYSIS(id, ...)    MW__RULE_##id,
#include "passes/pipeline.def"
    MW__RULE_FIRST_REWRITE,
    MW__RULE_BEFORE_REWRITES = MW__RULE_FIRST_REWRITE - 1,
#define MW_REWRITE(id, ...) MW__RULE_##id,
#include "passes/rewrites.def"
    MW__RULE_FIRST_PATTERN,
    MW__RULE_BEFORE_PATTERNS = MW__RULE_FIRST_PATTERN - 1,
#define MW_PATTERN(id, ...) MW__RULE_##id,
#include "passes/patterns.def"
    MW__RULE_COUNT
} mw__rule_id;

typedef enum mw__rule_kind { MW__KIND_PASS, MW__KIND_ANALYSIS, MW__KIND_REWRITE, MW__KIND_PATTERN } mw__rule_kind;

enum {
    MW__RULE_REQUIRED = 1,   /* without it a program would be wrong, or none: it cannot be left out */
    MW__RULE_HALF = 2,       /* only for devices whose ports are fp16 */
    MW__RULE_STANDS_IN = 4,  /* for an operation that a row of rules/legality.h refuses */
    MW__RULE_ON_REQUEST = 8, /* only where such a row, which names it, holds on a chip that is named */
    MW__RULE_QUIET = 16      /* a refusal by the device does not say what it wants */
};

/* The head that all of them have. */
typedef struct mw__rule {
    const char *name;
    mw__rule_kind kind;
    mw__rule_id pass;         /* in which it is applied; of a pass, itself */
    unsigned flags;           /* MW__RULE_* */
    const char *const *roots; /* MIL's names of the operations that it is tried at, up to NULL; or one of the two below.
                               * NULL of a pass, of an analysis, and of a pattern that stands over another one */
    const char *reason;       /* why what it makes is the same; of a pass or an analysis, its sentence */
    const char *wants;        /* what is missing where it does not apply; NULL = patterns say that themselves */
} mw__rule;

extern const char *const mw__pass_roots_any[], *const mw__pass_roots_elementwise[];

const mw__rule *mw__pass_rule_of(mw__rule_id id);
/* MW__RULE_NONE if there is none of that name. */
mw__rule_id mw__pass_rule_find(const char *name, size_t length);

/* ---- sets ---- */

typedef struct mw__rule_set {
    uint64_t words[(MW__RULE_COUNT + 63) / 64];
} mw__rule_set;

static inline bool mw__pass_set_has(const mw__rule_set *set, mw__rule_id id)
{
    return (set->words[id / 64] >> (id % 64) & 1) != 0;
}

/* Adds those that `names`, with commas between them, has; NULL adds none.
 *  source  where the names are from, for the message
 *  errors  MW_ERROR_ARGUMENT for one that there is none of, or that is required */
mw_status mw__pass_set_parse(mw__rule_set *set, const char *source, const char *names, mw_error *err);
/* True if it is in the set, or the pass is that it belongs to. */
bool mw__pass_set_leaves_out(const mw__rule_set *set, mw__rule_id id);

#endif
