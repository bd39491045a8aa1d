/* Refuses what a row of rules/legality.h refuses; what a device accepts in a decomposed lowering is rewritten by
 * rewrites or by the patterns. */
#include "mil/legalize/legality.h"
#include "mil/legalize/rewrites.h"

#include <stdio.h>

/* The first row that refuses, and what it found. */
typedef struct refusal {
    const mw__legality_row *row;
    mw__trip trip;
} refusal;

static bool take_refusal(void *user, const mw__legality_row *row, const mw__trip *trip)
{
    refusal *first = user;
    if (row->verdict != MW__REFUSED)
        return true;
    *first = (refusal){.row = row, .trip = *trip};
    return false;
}

/* "; rewrite crop did not apply: it wants .." for each row that could have stood for it. */
static const char *tried(const mw__op *op, char *buffer, size_t size)
{
    size_t at = 0, length = 0;
    buffer[0] = '\0';
    for (const mw__rule *row; length < size && (row = mw__mil_rewrite_wanting(op, &at)) != NULL;)
        length += (size_t)snprintf(buffer + length, size - length, "; rewrite %s did not apply, which wants %s",
                                   row->name, row->wants);
    return buffer;
}

/* "; the chip is h13 (M1)", if one is named: another may take it. */
static const char *named(const mw__legality *legality, char *buffer, size_t size)
{
    const mw__chip_row *chip = mw__legality_chip(legality);
    buffer[0] = '\0';
    if (chip->chip != MW_CHIP_AUTO)
        snprintf(buffer, size, "; the chip is %s%s%s%s", chip->name, chip->product[0] != '\0' ? " (" : "",
                 chip->product, chip->product[0] != '\0' ? ")" : "");
    return buffer;
}

static mw_status refuse_op(const mw__legality *legality, const refusal *refused, const mw__op *op, mw_error *err)
{
    char subject[160], rewrites[300], chip[60], rule[300];
    if (op->row != NULL) /* no device takes what breaks its own rule */
        MW_TRY(mw__op_verify(op, err));
    mw__legality_describe(refused->row, &refused->trip, rule, sizeof rule);
    mw__fail(err, MW_ERROR_UNSUPPORTED, "%s: %s (source: %s)%s%s", mw__op_subject(op, subject, sizeof subject), rule,
             refused->row->source, tried(op, rewrites, sizeof rewrites), named(legality, chip, sizeof chip));
    mw__error_subject(err, op->kind, op->result_count > 0 ? op->results[0]->name : NULL);
    if (op->line != 0)
        mw__error_position(err, (int)op->line, (int)op->column);
    return MW_ERROR_UNSUPPORTED;
}

static mw_status check_block(const mw__legality *legality, const mw__block *block, mw_error *err)
{
    for (size_t i = 0; i < block->op_count; i++)
        MW_TRY(mw__legalizer_check_op(legality, block->ops[i], err));
    return MW_OK;
}

mw_status mw__legalizer_check_op(const mw__legality *legality, const mw__op *op, mw_error *err)
{
    refusal refused;
    if (!mw__legality_ask_op(legality, op, take_refusal, &refused))
        return refuse_op(legality, &refused, op, err);
    for (size_t i = 0; i < op->block_count; i++)
        MW_TRY(check_block(legality, op->blocks[i], err));
    return MW_OK;
}

/* ---- ports and functions ---- */

static mw_status check_port(const mw__legality *legality, const mw_tensor *port, bool is_output, mw_error *err)
{
    refusal refused;
    char rule[300], chip[60];
    if (mw__legality_ask_port(legality, port, is_output, take_refusal, &refused))
        return MW_OK;
    mw__legality_describe(refused.row, &refused.trip, rule, sizeof rule);
    mw__fail(err, MW_ERROR_UNSUPPORTED, "%s \"%s\" %s (source: %s)%s", is_output ? "output" : "input",
             mw_tensor_name(port), rule, refused.row->source, named(legality, chip, sizeof chip));
    mw__error_subject(err, NULL, mw_tensor_name(port));
    return MW_ERROR_UNSUPPORTED;
}

mw_status mw__legalizer_check_ports(const mw__legality *legality, const mw__function *function, mw_error *err)
{
    refusal refused;
    char rule[300], chip[60];
    const mw__block *body = function->body;
    if (!mw__legality_ask_function(legality, function, take_refusal, &refused)) {
        mw__legality_describe(refused.row, &refused.trip, rule, sizeof rule);
        return mw__fail(err, MW_ERROR_UNSUPPORTED, "function %s: %s (source: %s)%s", function->name, rule,
                        refused.row->source, named(legality, chip, sizeof chip));
    }
    for (size_t i = 0; i < body->input_count; i++)
        MW_TRY(check_port(legality, body->inputs[i], false, err));
    for (size_t i = 0; i < body->output_count; i++)
        MW_TRY(check_port(legality, body->outputs[i], true, err));
    return MW_OK;
}

mw_status mw__mil_check_legal_for(const mw_graph *graph, const mw__legality *legality, mw_error *err)
{
    if (mw__failed(err))
        return err->status;
    for (size_t i = 0; i < graph->function_count; i++) {
        MW_TRY(check_block(legality, graph->functions[i]->body, err));
        MW_TRY(mw__legalizer_check_ports(legality, graph->functions[i], err));
    }
    return MW_OK;
}

mw_status mw__mil_check_legal(const mw_graph *graph, const mw__device_traits *device, mw_error *err)
{
    return mw__mil_check_legal_for(graph, &(mw__legality){.device = device}, err);
}
