/* Finding the row of an operation. */
#include "passes/rewrite.h"

#include <string.h>

#define KNOWN (UINT64_C(1) << 63)

static bool has_name(const char *const *roots, const char *name)
{
    while (*roots != NULL && strcmp(*roots, name) != 0)
        roots++;
    return *roots != NULL;
}

bool mw__pass_rule_has_root(const mw__rule *rule, const mw__op *op)
{
    if (rule->roots == mw__pass_roots_elementwise)
        return mw__op_has(op, MW__TRAIT_ELEMENTWISE);
    return rule->roots == mw__pass_roots_any || (rule->roots != NULL && has_name(rule->roots, op->kind));
}

/* By name and not by number: a new opset may give an operation a new row. */
static uint64_t rows_of(mw__rewriting *pass, const mw__rewrites *rows, const mw__op *op)
{
    uint64_t *found = &pass->rows[op->row->id];
    for (size_t i = 0; (*found & KNOWN) == 0 && i < rows->count; i++)
        if (mw__pass_rule_has_root(mw__pass_rule_of(rows->rows[i].id), op))
            *found |= UINT64_C(1) << i;
    *found |= KNOWN;
    return *found & ~KNOWN;
}

static bool is_sound(const mw__op *op)
{
    mw_error err = {0};
    return mw__op_verify(op, &err) == MW_OK;
}

/* NULL: the row applies; else why not. */
static const char *refusal_of(const mw__rewriting *pass, const mw__rewrites *rows, const mw__rewrite *row,
                              const mw__op *op)
{
    const mw__rule *rule = mw__pass_rule_of(row->id);
    if ((rule->flags & MW__RULE_HALF) != 0 && !rows->half_ports)
        return "a device whose ports are fp16";
    if ((rule->flags & MW__RULE_ON_REQUEST) != 0 && !rows->asked(pass->legality, op, row->id))
        return "a row of rules that asks for it on the chip that is named";
    if (rows->checked && !is_sound(op))
        return "an operation that keeps its own rule";
    return row->guard(pass, op) ? NULL : rule->wants;
}

const mw__rewrite *mw__rewrite_find(mw__rewriting *pass, const mw__rewrites *rows, const mw__op *op)
{
    if (op->row == NULL || (rows->checked && op->result_count != 1))
        return NULL;
    uint64_t left = rows_of(pass, rows, op);
    for (size_t i = 0; left != 0; i++, left >>= 1) {
        const mw__rewrite *row = &rows->rows[i];
        if ((left & 1) == 0 || mw__pass_is_off(pass->log, row->id))
            continue;
        const char *refused = refusal_of(pass, rows, row, op);
        if (refused == NULL) {
            if (pass->counts)
                mw__pass_hit(pass->log, row->id, op);
            return row;
        }
        if (pass->counts)
            mw__pass_refuse(pass->log, row->id, op, refused);
    }
    return NULL;
}

bool mw__rewrite_finds_any(mw__rewriting *pass, const mw__rewrites *rows, const mw__block *body)
{
    bool any = false;
    pass->counts = mw__pass_is_watched(pass->log);
    for (size_t i = 0; i < body->op_count && (!any || pass->counts); i++)
        any = mw__rewrite_find(pass, rows, body->ops[i]) != NULL || any;
    pass->counts = false;
    return any;
}

void mw__rewrite_apply(mw__rewriting *pass, const mw__rewrite *row, mw__clone *clone, const mw__op *op)
{
    mw_tensor *made = row->emit(pass, clone, op);
    if (made != NULL)
        mw__clone_set(clone, op->results[0], made);
}
