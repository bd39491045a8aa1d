/* Makes a program that a device accepts: a clone by the rewrites of the pass fp16, with outputs brought into a form
 * that the compiler takes. What cannot be rewritten is refused by name here or by the rows of rules. */
#include "mil/legalize/legalize.h"

#include "base/number/number.h"
#include "mil/legalize/rewrites.h"

#include <millwright/ops/compare.h>
#include <millwright/ops/elementwise.h>
#include <stdio.h>
#include <string.h>

bool mw__half_is_t(const mw__arg_row *row) { return mw__arg_type_is_t(row->type) || mw__arg_type_is_u(row->type); }

/* Arguments whose element type is that of the result. */
static bool carries_type(const mw__arg_row *row)
{
    return row->kind != MW__CONST && (mw__half_is_t(row) || row->type == MW__ANY);
}

/* ---- what becomes fp16, found in one pass ---- */

static bool is_default(const mw_tensor *value, const mw__arg_row *row)
{
    double standard;
    if (value->payload == NULL || value->payload->data == NULL || row->kind != MW__CONST || row->fallback == NULL)
        return false;
    if (mw_tensor_dtype(value) != MW_F32 || mw_shape_count(mw_tensor_shape(value)) != 1)
        return false;
    return mw__number_read(row->fallback, strlen(row->fallback), MW__NUMBER_F32, &standard) &&
           mw__payload_float(value->payload, 0) == standard;
}

/* The result type of a cast is its argument; other operations pass the type of their operands on. */
static void note_operand(mw__legalizer *legalizer, const mw__op *op, size_t slot, const mw_tensor *value,
                         bool *any_half)
{
    if (value == NULL)
        return;
    mw__value_facts *facts = &legalizer->facts[value->id];
    const mw__arg_row *row = op->row != NULL ? &op->row->args[slot] : NULL;
    const bool standard = row != NULL && is_default(value, row);
    const bool factor = row != NULL && mw__extent_is_rounded_factor(op, slot);
    facts->default_only = facts->user == NULL ? standard : facts->default_only && standard;
    facts->factor_only = facts->user == NULL ? factor : facts->factor_only && factor;
    if (facts->user == NULL) {
        facts->user = op;
        facts->arg = op->slots[slot].name;
    }
    if (row != NULL && carries_type(row) && legalizer->half[value->id] && strcmp(op->kind, "cast") != 0)
        *any_half = true;
}

static void note_company(mw__legalizer *legalizer, const mw__op *op, bool any_half)
{
    for (size_t i = 0; i < op->slot_count; i++)
        for (size_t k = 0; k < op->slots[i].count; k++) {
            const mw_tensor *value = op->slots[i].operands[k].value;
            const bool half = any_half && op->row != NULL && mw__half_is_t(&op->row->args[i]);
            if (value != NULL)
                *(half ? &legalizer->facts[value->id].used_with_half : &legalizer->facts[value->id].needs_integer) =
                    true;
        }
}

static void note_op(mw__legalizer *legalizer, const mw__op *op)
{
    bool any_half = false;
    for (size_t i = 0; i < op->slot_count; i++)
        for (size_t k = 0; k < op->slots[i].count; k++)
            note_operand(legalizer, op, i, op->slots[i].operands[k].value, &any_half);
    note_company(legalizer, op, any_half);
    for (size_t i = 0; any_half && i < op->result_count; i++)
        if (mw_tensor_dtype(op->results[i]) == MW_I32)
            legalizer->half[op->results[i]->id] = true;
}

/* A range of small integers that is combined with half values only is made in fp16, which saves a cast that the ANE
 * lacks: by the row half_range, without which it stays int32. */
static bool is_half_range(const mw__legalizer *legalizer, const mw__op *op)
{
    if (op->row == NULL || op->row->id != MW__OP_range_1d || mw_tensor_dtype(op->results[0]) != MW_I32 ||
        mw__pass_is_off(legalizer->log, MW__RULE_half_range))
        return false;
    const mw__value_facts *facts = &legalizer->facts[op->results[0]->id];
    return facts->used_with_half && !facts->needs_integer && mw__half_counts_range(op);
}

static void note_function(mw__legalizer *legalizer, const mw__function *function)
{
    const mw__block *body = function->body;
    for (size_t i = 0; i < body->input_count; i++)
        legalizer->half[body->inputs[i]->id] = mw_tensor_dtype(body->inputs[i]) == MW_I32;
    for (size_t i = 0; i < body->op_count; i++)
        note_op(legalizer, body->ops[i]);
    for (size_t i = 0; i < body->output_count; i++)
        legalizer->facts[body->outputs[i]->id].needs_integer = true;
    for (size_t i = 0; i < body->op_count; i++)
        if (is_half_range(legalizer, body->ops[i]))
            legalizer->half[body->ops[i]->results[0]->id] = true;
}

/* ---- the clone ---- */

typedef struct making {
    mw__rewriting pass;
    mw__rewrites rows;
} making;

static bool rewrite(void *user, mw__clone *clone, const mw__op *op)
{
    making *self = user;
    const mw__rewrite *row = mw__rewrite_find(&self->pass, &self->rows, op);
    if (row == NULL)
        return false;
    if (op->row->id == MW__OP_const || mw__op_verify(op, &clone->to->error) == MW_OK) /* a text may declare anything */
        mw__rewrite_apply(&self->pass, row, clone, op);
    return true;
}

static mw_dtype port_dtype(void *user, const mw_tensor *value)
{
    const mw_dtype dtype = mw_tensor_dtype(value);
    (void)user;
    return dtype == MW_F32 || (dtype == MW_I32 && value->role == MW__INPUT) ? MW_F16 : dtype;
}

/* A truth that is fed enters as 0 or 1. */
static bool read_truth(void *user, mw__clone *clone, const mw_tensor *value)
{
    const mw__legalizer *self = ((making *)user)->pass.legalizer;
    if (!self->legality.device->half_ports || mw_tensor_dtype(value) != MW_BOOL || value->role != MW__INPUT)
        return false;
    mw_tensor *port = mw_input(self->to, value->name, MW_F16, mw_tensor_shape(value));
    mw__clone_set(clone, value, mw_greater(port, mw_scalar(self->to, MW_F16, 0.5)));
    return true;
}

/* ---- outputs ---- */

/* The name of an output may stand at another value: where two outputs have become one, as a value and its cast are in
 * fp16, the first of them gave it its name, and where a rewrite left an identity out, the name stayed behind. The
 * output goes before. */
static mw_status give_back_name(mw_graph *to, const mw_tensor *copy, const char *wanted, mw_error *err)
{
    mw_tensor *owner = mw_graph_find(to, wanted);
    if (owner == NULL || owner->role != MW__VALUE || (owner == copy && !copy->is_output))
        return MW_OK;
    const bool own = owner->name != NULL && strcmp(owner->name, wanted) == 0;
    if (own && owner->is_output)
        return MW_OK;
    owner->name = own ? NULL : owner->name;
    return mw__map_set(&to->names, wanted, NULL, err);
}

/* `wanted`_out, _out_2, .. : the first that is free behind those that were given before, so that a result which is
 * given n times takes n looks and not n * n. */
static mw_status next_output_name(const mw_graph *to, mw__map *given, const char *wanted, char *buffer, size_t size,
                                  mw_error *err)
{
    uintptr_t number = (uintptr_t)mw__map_get(given, wanted);
    do {
        number++;
        if (number == 1)
            snprintf(buffer, size, "%.200s_out", wanted);
        else
            snprintf(buffer, size, "%.200s_out_%zu", wanted, (size_t)number);
    } while (mw_graph_find(to, buffer) != NULL);
    return mw__map_set(given, wanted, (void *)number, err);
}

/* The name of the output, or a free one when it is that of an input or of an earlier output.
 *  given  name -> how many free ones were made of it */
static mw_status output_name(mw_graph *to, mw__map *given, const mw_tensor *copy, const char *wanted, char *buffer,
                             size_t size, mw_error *err)
{
    MW_TRY(give_back_name(to, copy, wanted, err));
    const mw_tensor *owner = mw_graph_find(to, wanted);
    const bool taken = owner != NULL && (owner != copy || copy->role != MW__VALUE || copy->is_output);
    if (!taken && copy->payload == NULL)
        return (size_t)snprintf(buffer, size, "%s", wanted) < size
                   ? MW_OK
                   : mw__fail(err, MW_ERROR_ARGUMENT, "output \"%.60s...\": the name is longer than %zu bytes", wanted,
                              size - 1);
    return next_output_name(to, given, wanted, buffer, size, err);
}

/* The sign that the number is whole: it need not become an integer on its way out. */
static bool is_whole(const mw_tensor *value)
{
    static const char *const kinds[] = {"floor", "ceil", "round", "sign"};
    bool whole = false;
    for (size_t i = 0; value->op != NULL && i < sizeof kinds / sizeof *kinds; i++)
        whole = whole || strcmp(value->op->kind, kinds[i]) == 0;
    return whole;
}

/* The fp16 form of a result that is an integer or a truth: 0 and 1. Integers beyond 2048 that are in no digits are
 * rounded, as all that the device computes. */
static mw_tensor *as_half(const mw__legalizer *legalizer, mw_tensor *copy)
{
    mw_graph *to = legalizer->to;
    const mw_dtype dtype = mw_tensor_dtype(copy);
    if (!legalizer->legality.device->half_ports || dtype == MW_F16 || copy->type->kind != MW__TENSOR)
        return copy;
    if (dtype == MW_BOOL) {
        mw_tensor *one = mw_scalar(to, MW_F16, 1.0);
        return mw_select(copy, one, mw_scalar(to, MW_F16, 0.0));
    }
    const mw_tensor *from = copy->op != NULL && strcmp(copy->op->kind, "cast") == 0 ? mw__arg(copy->op, "x") : NULL;
    if (from != NULL && mw_tensor_dtype(from) == MW_F16 && is_whole(from))
        return (mw_tensor *)from;
    return mw_cast(copy, MW_F16);
}

/* `form` stands for the result `copy`: it takes its name. */
static mw_status pass_name(mw_graph *to, mw_tensor *copy, mw_tensor *form, mw_error *err)
{
    if (form == NULL)
        return mw_graph_check(to, err);
    if (form == copy || copy->role != MW__VALUE || copy->payload != NULL || copy->is_output || copy->name == NULL)
        return MW_OK;
    form->name = copy->name;
    copy->name = NULL;
    return mw__map_set(&to->names, form->name, form, err);
}

/* An output that is an input, a constant or repeated becomes an identity: an empty program crashes Espresso. */
static mw_status declare_output(mw__legalizer *legalizer, const mw__clone *clone, size_t i, mw__map *given,
                                mw_error *err)
{
    mw_graph *to = legalizer->to;
    const mw_tensor *source = clone->from->body->outputs[i];
    char name[MW_NAME_MAX + 1], automatic[32];
    mw_tensor *copy = mw__clone_get(clone, source);
    snprintf(automatic, sizeof automatic, "output_%zu", i);
    if (copy == NULL)
        return mw__fail(err, MW_ERROR_STATE, "output %zu was not copied", i);
    mw_tensor *form = as_half(legalizer, copy);
    MW_TRY(pass_name(to, copy, form, err));
    const char *wanted = source->name != NULL ? source->name : automatic;
    MW_TRY(output_name(to, given, form, wanted, name, sizeof name, err));
    mw_tensor *output = mw_output(form, name);
    MW_TRY(mw_graph_check(to, err));
    output->part = mw__part_copy(to, source->part);
    return mw_graph_check(to, err);
}

static mw_status declare_outputs(void *user, const mw__clone *clone, mw_error *err)
{
    mw__legalizer *legalizer = ((making *)user)->pass.legalizer;
    mw__map given;
    mw_status status = MW_OK;
    mw__map_init(&given, legalizer->to->allocator);
    for (size_t i = 0; i < clone->from->body->output_count && status == MW_OK; i++)
        status = declare_output(legalizer, clone, i, &given, err);
    mw__map_deinit(&given);
    return status;
}

/* ---- the whole ---- */

static bool stands_in(const mw__rewrite *row)
{
    return row != NULL && (mw__pass_rule_of(row->id)->flags & MW__RULE_STANDS_IN) != 0;
}

static mw_status check_source(making *self, const mw__function *function, mw_error *err)
{
    const mw__legality *legality = self->pass.legality;
    for (size_t i = 0; legality->device->is_chip && i < function->body->op_count; i++) {
        if (!stands_in(mw__rewrite_find(&self->pass, &self->rows, function->body->ops[i])))
            MW_TRY(mw__legalizer_check_op(legality, function->body->ops[i], err));
    }
    return MW_OK;
}

/* Operations that no result needs stay behind, such as those that mw_jvp differentiates on its way. */
static mw_status run_legalizer(mw__legalizer *legalizer, const mw__function *function, mw_error *err)
{
    const bool half = legalizer->legality.device->half_ports;
    making self = {.pass = {.pass = MW__RULE_fp16, .log = legalizer->log, .legality = &legalizer->legality},
                   .rows = mw__mil_rewrites(MW__RULE_fp16, legalizer->legality.device->half_ports)};
    const mw__clone_options options = {
        .rule = rewrite, .dtype = half ? port_dtype : NULL, .input = read_truth, .user = &self};
    self.pass.legalizer = legalizer;
    if (half)
        note_function(legalizer, function);
    MW_TRY(check_source(&self, function, err));
    self.pass.counts = true;
    MW_TRY(mw__clone_ports(function, legalizer->to, &options, declare_outputs, err));
    return legalizer->unchecked ? MW_OK : mw__mil_check_legal(legalizer->to, legalizer->legality.device, err);
}

/* ---- programs that are in form ---- */

static bool is_own_result(const mw_tensor *output)
{
    return output->op != NULL && output->payload == NULL && output->role == MW__VALUE && output->name != NULL &&
           output->type->kind == MW__TENSOR;
}

/* Marks what the operation reads; false if it is one that the clone may write in another way: with blocks, unknown, or
 * with a constant of a file. */
static bool mark_read(const mw__op *op, bool *read)
{
    for (size_t i = 0; i < op->result_count; i++)
        if (op->results[i]->payload != NULL && op->results[i]->payload->blob_path != NULL)
            return false;
    for (size_t i = 0; i < op->slot_count; i++)
        for (size_t k = 0; k < op->slots[i].count; k++) {
            const mw__operand *operand = &op->slots[i].operands[k];
            if (operand->value == NULL || operand->member_count > 0)
                return false;
            if (operand->value->payload != NULL && operand->value->payload->blob_path != NULL)
                return false;
            read[operand->value->id] = true;
        }
    return op->row != NULL && op->block_count == 0 && op->line == 0 && op->attribute_count == 0;
}

static bool is_read(const mw__op *op, const bool *read)
{
    for (size_t i = 0; i < op->result_count; i++)
        if (read[op->results[i]->id])
            return true;
    return false;
}

/* Each output once, and each operation for an output. */
static bool has_no_rest(const mw__block *body, bool *read)
{
    for (size_t i = 0; i < body->output_count; i++) {
        if (!is_own_result(body->outputs[i]) || read[body->outputs[i]->id])
            return false;
        read[body->outputs[i]->id] = true;
    }
    for (size_t i = body->op_count; i-- > 0;)
        if (!is_read(body->ops[i], read) || !mark_read(body->ops[i], read))
            return false;
    return true;
}

/* Asked last, as it is the most work. */
static bool is_all_sound(const mw__block *body)
{
    mw_error ignored = {0};
    for (size_t i = 0; i < body->op_count; i++)
        if (mw__op_verify(body->ops[i], &ignored) != MW_OK)
            return false;
    return true;
}

static bool may_be_in_form(const mw_graph *graph, const mw__device_traits *device)
{
    const mw__function *main = mw__graph_main(graph);
    return !device->half_ports && !device->is_chip && !device->constant_weights && main != NULL &&
           graph->function_count == 1 && graph->attribute_count + main->attribute_count == 0 &&
           graph->style == MW__STYLE_NEW && graph->error.status == MW_OK;
}

mw_status mw__mil_is_in_form(const mw_graph *graph, const mw__device_traits *device, bool *out, mw_error *err)
{
    *out = false;
    if (mw__failed(err) || !may_be_in_form(graph, device))
        return mw__failed(err) ? err->status : MW_OK;
    bool *read = mw__alloc(graph->allocator, graph->value_count, sizeof *read, err);
    if (read == NULL)
        return MW_ERROR_MEMORY;
    const mw__block *body = mw__graph_main(graph)->body;
    *out = has_no_rest(body, read) && is_all_sound(body);
    mw__free(graph->allocator, read);
    return MW_OK;
}

/* ---- by device ---- */

mw_status mw__mil_legalize(const mw_graph *from, mw_graph *to, const mw__device_traits *device, mw_error *err)
{
    return mw__mil_legalize_with(from, to, &(mw__legalize_options){.device = device}, err);
}

mw_status mw__mil_legalize_with(const mw_graph *from, mw_graph *to, const mw__legalize_options *options, mw_error *err)
{
    if (options->out_narrowed != NULL)
        *options->out_narrowed = NULL;
    if (mw__failed(err))
        return err->status;
    MW_TRY(mw_graph_check(from, err));
    const mw__function *function = mw__graph_main(from);
    if (function == NULL)
        return mw__fail(err, MW_ERROR_ARGUMENT, "the program has no function main");
    mw__legalizer self = {.from = from,
                          .to = to,
                          .log = options->log,
                          .strict = options->strict,
                          .unchecked = options->unchecked,
                          .narrowed = options->out_narrowed};
    self.flow = (mw__narrow_flow){.arena = &to->arena, .function = function, .count = from->value_count};
    self.facts = mw__alloc(to->allocator, from->value_count, sizeof *self.facts, err);
    self.half = mw__alloc(to->allocator, from->value_count, sizeof *self.half, err);
    mw_status status = MW_ERROR_MEMORY;
    if (self.facts != NULL && self.half != NULL) {
        const bool *known = options->device->half_ports ? self.half : NULL;
        self.legality = (mw__legality){.device = options->device, .half = known, .count = from->value_count};
        status = run_legalizer(&self, function, err);
    }
    mw__free(to->allocator, self.facts);
    mw__free(to->allocator, self.half);
    return status;
}
