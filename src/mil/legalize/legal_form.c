/* The forms of a program on its way to a device, in their order. */
#include "mil/legalize/legal_form.h"

#include "mil/legalize/decompose.h"
#include "mil/legalize/fit.h"
#include "mil/legalize/numbers/narrow.h"
#include "mil/legalize/numbers/overflow.h"
#include "mil/legalize/split.h"
#include "mil/legalize/widen.h"
#include "mil/pass_text.h"
#include "passes/invariant.h"

typedef struct making {
    const mw__legal_options *options;
    mw__legality legality;
    mw_opset opset;
    mw__legal_form *out;
} making;

/* `to` is what the form makes of `from`; *out_any false if it had nothing to do. */
typedef mw_status form_maker(making *m, const mw_graph *from, mw_graph *to, bool *out_any, mw_error *err);

static mw_status widen_form(making *m, const mw_graph *from, mw_graph *to, bool *out_any, mw_error *err)
{
    return mw__mil_widen(from, to, m->options->device, out_any, err);
}

static mw_status decompose(making *m, const mw_graph *from, mw_graph *to, bool *out_any, mw_error *err)
{
    return mw__mil_decompose(from, to, &m->legality, m->options->log, out_any, err);
}

/* With what the chip cannot hold in parts. */
static mw_status split_form(making *m, const mw_graph *from, mw_graph *to, bool *out_any, mw_error *err)
{
    const mw__split_options how = {.axis_max = mw__legality_chip(&m->legality)->axis_max, .log = m->options->log};
    if (!m->options->device->half_ports && !m->options->device->is_chip)
        return MW_OK;
    return mw__mil_split(from, to, &how, out_any, err);
}

static mw_status legalize(making *m, const mw_graph *from, mw_graph *to, bool *out_any, mw_error *err)
{
    const mw__legalize_options how = {.device = m->options->device,
                                      .log = m->options->log,
                                      .strict = m->options->strict,
                                      .unchecked = m->options->unchecked,
                                      .out_narrowed = &m->out->narrowed};
    bool in_form;
    MW_TRY(mw__mil_is_in_form(from, m->options->device, &in_form, err));
    *out_any = !in_form;
    if (in_form)
        return MW_OK;
    return mw__mil_legalize_with(from, to, &how, err);
}

static mw_status fit(making *m, const mw_graph *from, mw_graph *to, bool *out_any, mw_error *err)
{
    return m->options->device->is_chip ? mw__mil_fit(from, to, &m->legality, m->options->log, out_any, err) : MW_OK;
}

static mw_graph *fresh(const making *m, mw_error *err)
{
    mw_graph_options options = mw_graph_defaults();
    options.allocator = m->options->allocator;
    options.opset = m->opset;
    mw_graph *graph = mw__graph_make(&options, NULL);
    if (graph == NULL)
        mw__fail(err, MW_ERROR_MEMORY, "no memory for the graph to be compiled");
    return graph;
}

typedef struct text_pass {
    mw__rule_id id;
    form_maker *make;
    mw__invariant *holds;
    const char *invariant;
} text_pass;

static const text_pass passes[] = {
#define MW_PASS_TEXT(id, need, function, invariant, sentence)                                                          \
    {MW__RULE_##id, function, mw__holds_##invariant, #invariant},
#include "passes/pipeline.def"
};

enum { PASSES = sizeof passes / sizeof *passes };
_Static_assert((size_t)PASSES == (size_t)MW__LEGAL_FORMS, "each pass may make a form");

static mw_status make_form(making *m, const text_pass *pass, const mw_graph *from, mw_graph **out, mw_error *err)
{
    bool any = false;
    mw_graph *graph = fresh(m, err);
    mw_status status = graph != NULL ? MW_OK : MW_ERROR_MEMORY;
    if (status == MW_OK && !mw__pass_is_off(m->options->log, pass->id))
        status = pass->make(m, from, graph, &any, err);
    *out = status == MW_OK && any ? graph : NULL;
    if (*out == NULL)
        mw__graph_free(graph);
    return status;
}

/* With what is told of it. */
static mw_status run_pass(making *m, const text_pass *pass, const mw_graph *from, mw_graph **out, mw_error *err)
{
    mw__pass_run run;
    mw__mil_begin_pass(&run, m->options->log, pass->id, from);
    MW_TRY(make_form(m, pass, from, out, err));
    const mw_graph *made = *out != NULL ? *out : from;
    const mw__pass_promise promise = {pass->holds, pass->invariant, m->options->device};
    return mw__mil_end_pass(&run, made, *out != NULL, &promise, err);
}

/* A form goes when the next one is there, but for the one that lists what was narrowed. */
static mw_status make_forms(making *m, const mw_graph *from, mw_error *err)
{
    mw__legal_form *out = m->out;
    for (size_t i = 0; i < PASSES; i++) {
        MW_TRY(run_pass(m, &passes[i], out->graph != NULL ? out->graph : from, &out->forms[i], err));
        if (out->forms[i] == NULL)
            continue;
        out->graph = out->forms[i];
        for (size_t k = 0; k < i && passes[i].id != MW__RULE_fit; k++) {
            mw__graph_free(out->forms[k]);
            out->forms[k] = NULL;
        }
    }
    out->graph = out->graph != NULL ? out->graph : from;
    return mw_graph_check(out->graph, err);
}

static mw_graph *last_form(const mw__legal_form *out)
{
    size_t i = PASSES;
    while (i > 0 && out->forms[i - 1] == NULL)
        i--;
    return i > 0 ? out->forms[i - 1] : NULL;
}

mw_status mw__legal_form_make(const mw_graph *from, const mw__legal_options *options, mw__legal_form *out,
                              mw_error *err)
{
    *out = (mw__legal_form){0};
    if (mw__failed(err))
        return err->status;
    const mw__function *main = mw__graph_main(from);
    making m = {.options = options,
                .legality = {.device = options->device, .chip = options->chip},
                .opset = main != NULL ? main->opset : mw_graph_defaults().opset,
                .out = out};
    mw_status status = make_forms(&m, from, err);
    if (status == MW_OK && options->device->half_ports)
        status = mw__mil_list_overflows(last_form(out), options->arithmetic, &out->narrowed, err);
    if (status != MW_OK || options->unchecked || mw__legality_chip(&m.legality)->chip == MW_CHIP_AUTO)
        return status;
    return mw__mil_check_legal_for(out->graph, &m.legality, err);
}

void mw__legal_form_deinit(mw__legal_form *form)
{
    for (size_t i = 0; i < MW__LEGAL_FORMS; i++)
        mw__graph_free(form->forms[i]);
    *form = (mw__legal_form){0};
}
