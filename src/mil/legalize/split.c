/* The clone that splits: ports in parts, operations by the rewrites of the pass parts. */
#include "mil/legalize/rewrites.h"

#include <millwright/millwright.h>
#include <stdio.h>
#include <string.h>

typedef struct splitter {
    mw__split split;
    mw__rewriting pass;
    mw__rewrites rows;
} splitter;

/* ---- ports ---- */

static const char *part_name(mw__split *split, const mw__part *part, int64_t block, int64_t blocks)
{
    static const char *const digits[2] = {"high", "low"};
    char name[MW_NAME_MAX + 1], number[24] = "";
    if (blocks > 1)
        snprintf(number, sizeof number, "#%lld", (long long)block);
    const int length = snprintf(name, sizeof name, "%s%s%s%s", part->whole, part->digit >= 0 ? "#" : "",
                                part->digit >= 0 ? digits[part->digit] : "", number);
    if (length < 0 || (size_t)length >= sizeof name) {
        mw__graph_fail(split->to, MW_ERROR_ARGUMENT, "port \"%.60s...\": the name is longer than %zu bytes",
                       part->whole, sizeof name - sizeof number - sizeof "#high");
        return NULL;
    }
    return mw__arena_string(&split->to->arena, name, (size_t)length, &split->to->error);
}

/* What the block and digit hold of the value. */
static const mw__part *describe_part(mw__split *split, const mw_tensor *value, const char *whole, int64_t block,
                                     int digit)
{
    int64_t begin = 0, count;
    const mw_shape shape = mw_tensor_shape(value);
    const int axis = mw__split_axis(split, value);
    if (axis >= 0 && mw__split_is_long(split, value))
        mw__split_block(split, shape.dim[axis], block, &begin, &count);
    const mw__part part = {.whole = whole,
                           .dtype = mw_tensor_dtype(value),
                           .shape = shape,
                           .digit = digit,
                           .axis = axis >= 0 ? axis : 0,
                           .begin = begin};
    return mw__part_copy(split->to, &part);
}

static void add_input(mw__split *split, mw__clone *clone, const mw_tensor *value, int64_t block, int digits, int digit)
{
    const mw__part *part = describe_part(split, value, value->name, block, digits == 2 ? digit : -1);
    const char *name = part != NULL ? part_name(split, part, block, mw__split_blocks_of(split, value)) : NULL;
    const mw_dtype dtype = digits == 2 ? MW_F32 : mw_tensor_dtype(value);
    mw_tensor *input = name != NULL ? mw_input(split->to, name, dtype, mw__split_extents(split, value, block)) : NULL;
    if (input == NULL)
        return;
    input->role = value->role;
    input->part = part;
    input->index_limit = value->index_limit;
    input->index_ignored = value->index_ignored;
    input->index_use = value->index_use;
    input->stop_gradient = value->stop_gradient;
    mw__split_set(split, clone, value, block, digits, digit, input);
}

static bool split_input(void *user, mw__clone *clone, const mw_tensor *value)
{
    mw__split *split = &((splitter *)user)->split;
    const int digits = mw__split_is_wide(split, value) ? 2 : 1;
    const int64_t blocks = mw__split_blocks_of(split, value);
    for (int64_t b = 0; b < blocks && blocks * digits > 1; b++)
        for (int d = 0; d < digits; d++)
            add_input(split, clone, value, b, digits, d);
    return blocks * digits > 1;
}

static void add_output_parts(mw__split *split, const mw_tensor *value, size_t index)
{
    char whole[256];
    const mw__split_form *form = &split->forms[value->id];
    if (value->name == NULL)
        snprintf(whole, sizeof whole, "output_%zu", index);
    else
        snprintf(whole, sizeof whole, value->role == MW__VALUE ? "%s" : "%.240s_out", value->name);
    for (int64_t i = 0; i < form->blocks * form->digits && split->to->error.status == MW_OK; i++) {
        const int64_t block = i / form->digits;
        const mw__part *part = describe_part(split, value, whole, block, form->digits == 2 ? (int)(i % 2) : -1);
        const char *name = part != NULL ? part_name(split, part, block, form->blocks) : NULL;
        mw_tensor *output = name != NULL ? mw_output(form->parts[i], name) : NULL;
        if (output != NULL)
            output->part = part;
    }
}

static mw_status add_outputs(void *user, const mw__clone *clone, mw_error *err)
{
    mw__split *split = &((splitter *)user)->split;
    const mw__block *body = split->from->body;
    mw_graph *to = split->to;
    for (size_t i = 0; i < body->output_count; i++) {
        const mw_tensor *value = body->outputs[i];
        if (split->forms[value->id].digits != 0)
            add_output_parts(split, value, i);
        else if (mw__clone_get(clone, value) != NULL)
            mw__block_add_output(to->current->body, mw__clone_get(clone, value), &to->error);
        MW_TRY(mw_graph_check(to, err));
    }
    return MW_OK;
}

/* ---- operations ---- */

static bool split_op(void *user, mw__clone *clone, const mw__op *op)
{
    splitter *self = user;
    const mw__split *split = &self->split;
    if (op->row == NULL || op->block_count > 0 || op->result_count == 0 || mw__split_is_source(split, op->results[0]))
        return false;
    const mw__rewrite *row = mw__rewrite_find(&self->pass, &self->rows, op);
    if (row != NULL)
        mw__rewrite_apply(&self->pass, row, clone, op);
    return row != NULL;
}

/* ---- the whole ---- */

static mw_status run_split(splitter *self, mw_error *err)
{
    const mw__clone_options how = {.rule = split_op, .input = split_input, .user = self};
    return mw__clone_ports(self->split.from, self->split.to, &how, add_outputs, err);
}

static splitter begin_splitter(const mw_graph *from, mw_graph *to, const mw__split_options *options)
{
    splitter self = {.rows = mw__mil_rewrites(MW__RULE_parts, false)};
    self.pass = (mw__rewriting){.pass = MW__RULE_parts, .log = options->log, .counts = true};
    self.split = (mw__split){.from = mw__graph_main(from), .to = to, .log = options->log, .count = from->value_count};
    self.split.axis_max = mw__pass_is_off(options->log, MW__RULE_blocks) ? INT64_MAX : options->axis_max;
    return self;
}

static mw_status allocate(mw__split *split, mw_error *err)
{
    const mw_allocator *allocator = split->to->allocator;
    split->parents = mw__alloc(allocator, 2 * split->count, sizeof *split->parents, err);
    split->marks = mw__alloc(allocator, split->count, sizeof *split->marks, err);
    split->forms = mw__alloc(allocator, split->count, sizeof *split->forms, err);
    split->sources = mw__alloc(allocator, 3 * split->count, sizeof *split->sources, err);
    split->hots = mw__alloc(allocator, split->count, sizeof *split->hots, err);
    const bool all = split->parents != NULL && split->marks != NULL && split->forms != NULL && split->sources != NULL &&
                     split->hots != NULL;
    return all ? MW_OK : MW_ERROR_MEMORY;
}

mw_status mw__mil_split(const mw_graph *from, mw_graph *to, const mw__split_options *options, bool *out_split,
                        mw_error *err)
{
    *out_split = false;
    if (mw__failed(err))
        return err->status;
    MW_TRY(mw_graph_check(from, err));
    if (mw__graph_main(from) == NULL)
        return MW_OK; /* an error of mw__mil_legalize */
    splitter self = begin_splitter(from, to, options);
    mw__split *split = &self.split;
    self.pass.split = split;
    mw_status status = allocate(split, err);
    if (status == MW_OK && mw__split_plan(split)) {
        *out_split = true;
        status = run_split(&self, err);
    }
    mw__free(to->allocator, split->parents);
    mw__free(to->allocator, split->marks);
    mw__free(to->allocator, split->forms);
    mw__free(to->allocator, split->sources);
    mw__free(to->allocator, split->hots);
    return status;
}
