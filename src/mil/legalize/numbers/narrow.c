/* What stands for a constant that fp16 does not hold depends on what becomes of it: the constant is followed through
 * the operations that hand it on, until an addition or a division. */
#include "mil/legalize/numbers/narrow.h"

#include "base/number/fp16.h"

#include <math.h>
#include <string.h>

#define HALF_OF_MAX 32752.0

/* ---- what operations do with an operand ---- */

typedef enum use_role {
    ROLE_OTHER,
    ROLE_HANDS_ON, /* the result has its elements, or products of them */
    ROLE_ADDS,
    ROLE_LIMITS, /* keeps the result away from 0 */
    ROLE_DIVIDES /* by it */
} use_role;

typedef struct role_row {
    const char *operation, *argument; /* argument NULL = any */
    use_role role;
} role_row;

static const role_row rows[] = {
    {"add", NULL, ROLE_ADDS},
    {"sub", NULL, ROLE_ADDS},
    {"clip", "alpha", ROLE_LIMITS},
    {"clip", "beta", ROLE_LIMITS},
    {"clip", "x", ROLE_HANDS_ON},
    {"maximum", NULL, ROLE_LIMITS},
    {"minimum", NULL, ROLE_LIMITS},
    {"threshold", "alpha", ROLE_LIMITS},
    {"threshold", "x", ROLE_HANDS_ON},
    {"inverse", NULL, ROLE_DIVIDES},
    {"real_div", "y", ROLE_DIVIDES},
    {"mul", NULL, ROLE_HANDS_ON},
    {"select", "a", ROLE_HANDS_ON},
    {"select", "b", ROLE_HANDS_ON},
    {"abs", "x", ROLE_HANDS_ON},
    {"cast", "x", ROLE_HANDS_ON},
    {"concat", "values", ROLE_HANDS_ON},
    {"stack", "values", ROLE_HANDS_ON},
    {"expand_dims", "x", ROLE_HANDS_ON},
    {"fill", "value", ROLE_HANDS_ON},
    {"fill_like", "value", ROLE_HANDS_ON},
    {"gather", "x", ROLE_HANDS_ON},
    {"identity", "x", ROLE_HANDS_ON},
    {"pad", NULL, ROLE_HANDS_ON},
    {"reshape", "x", ROLE_HANDS_ON},
    {"reshape_like", "x", ROLE_HANDS_ON},
    {"slice_by_index", "x", ROLE_HANDS_ON},
    {"slice_by_size", "x", ROLE_HANDS_ON},
    {"split", "x", ROLE_HANDS_ON},
    {"squeeze", "x", ROLE_HANDS_ON},
    {"tile", "x", ROLE_HANDS_ON},
    {"transpose", "x", ROLE_HANDS_ON},
    {"band_part", "x", ROLE_HANDS_ON},
};

static use_role role_of(const mw__use *use)
{
    const char *argument = use->op->slots[use->slot].name;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const role_row *row = &rows[i];
        if (strcmp(row->operation, use->op->kind) == 0 &&
            (row->argument == NULL || strcmp(row->argument, argument) == 0))
            return row->role;
    }
    return ROLE_OTHER;
}

/* ---- following ---- */

static mw_status prepare_flow(mw__narrow_flow *flow, mw_error *err)
{
    if (flow->uses == NULL)
        flow->uses = mw__uses_make(flow->arena, flow->function, err);
    if (flow->uses != NULL && flow->seen == NULL)
        flow->seen = mw__arena_alloc(flow->arena, flow->count, sizeof *flow->seen, err);
    if (flow->seen == NULL)
        return MW_ERROR_MEMORY;
    memset(flow->seen, 0, flow->count * sizeof *flow->seen);
    return MW_OK;
}

static bool reaches(mw__narrow_flow *flow, const mw_tensor *value, use_role wanted);

static bool any_result_reaches(mw__narrow_flow *flow, const mw__op *op, use_role wanted)
{
    for (size_t i = 0; i < op->result_count; i++)
        if (reaches(flow, op->results[i], wanted))
            return true;
    return false;
}

/* Whether something that `value` is handed on to has that role. A limit or an addition hands on what it makes, for
 * divisions: they are what keeps a divisor from 0. */
static bool reaches(mw__narrow_flow *flow, const mw_tensor *value, use_role wanted)
{
    if (flow->seen[value->id])
        return false;
    flow->seen[value->id] = true;
    for (const mw__use *use = flow->uses[value->id]; use != NULL; use = use->next) {
        const use_role role = role_of(use);
        if (role == wanted)
            return true;
        const bool on = role == ROLE_HANDS_ON || (wanted == ROLE_DIVIDES && (role == ROLE_ADDS || role == ROLE_LIMITS));
        if (on && any_result_reaches(flow, use->op, wanted))
            return true;
    }
    return false;
}

/* A divisor itself is no guard of one: it would only be another divisor. */
static bool guards_division(mw__narrow_flow *flow, const mw_tensor *constant)
{
    for (const mw__use *use = flow->uses[constant->id]; use != NULL; use = use->next) {
        const use_role role = role_of(use);
        const bool epsilon = strcmp(use->op->slots[use->slot].name, "epsilon") == 0;
        if (role == ROLE_DIVIDES && epsilon)
            return true;
        if ((role == ROLE_ADDS || role == ROLE_LIMITS) && any_result_reaches(flow, use->op, ROLE_DIVIDES))
            return true;
    }
    return false;
}

mw_status mw__narrow_replace(mw__narrow_flow *flow, const mw_tensor *constant, double number, double *out,
                             mw_error *err)
{
    MW_TRY(prepare_flow(flow, err));
    if (fabs(number) > 1.0)
        *out = reaches(flow, constant, ROLE_ADDS) ? HALF_OF_MAX : (double)MW__FP16_MAX;
    else
        *out = number > 0.0 && guards_division(flow, constant) ? MW__SAFE_DIVISOR : (double)MW__FP16_MIN_SUBNORMAL;
    *out = copysign(*out, number);
    return MW_OK;
}
