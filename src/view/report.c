/* mw_report_write: the page and its order. */
#include "view/report.h"

#include "base/file/file.h"
#include "base/number/float_mode.h"
#include "base/text/error.h"
#include "view/draw.h"
#include "view/markup.h"

#include <string.h>

enum { CLASSES_MAX = 4096, RUNS_MAX = 8 };

mw_report_options mw_report_defaults(void)
{
    return (mw_report_options){.struct_size = sizeof(mw_report_options), .picture = "x", .label = "y", .samples = 8};
}

/* ---- pieces ---- */

void mw__section(mw__text *out, const char *title) { mw__text_printf(out, "<section><h2>%s</h2>\n", title); }

void mw__section_end(mw__text *out) { mw__text_puts(out, "</section>\n"); }

void mw__page_row(mw__text *out, const char *key, const char *value)
{
    mw__text_puts(out, "<tr><th>");
    mw__put_escaped(out, key != NULL ? key : "", 80);
    mw__text_puts(out, "</th><td>");
    mw__put_escaped(out, value != NULL ? value : "", 500);
    mw__text_puts(out, "</td></tr>\n");
}

static void put_style(mw__text *out)
{
    mw__text_puts(out, "<style>\n:root{color-scheme:light dark;");
    mw__text_puts(out, mw__palette_light);
    mw__text_puts(out, "}\n@media(prefers-color-scheme:dark){:root{");
    mw__text_puts(out, mw__palette_dark);
    mw__text_puts(
        out, "}}\n"
             "body{margin:0 auto;max-width:1020px;padding:24px;background:var(--page);color:var(--ink);"
             "font:15px/1.5 system-ui,sans-serif}\n"
             "h1{font-size:26px;margin:0 0 12px}h2{font-size:19px;margin:36px 0 12px;padding-bottom:4px;"
             "border-bottom:1px solid var(--rule)}h3{font-size:15px;margin:20px 0 8px}\n"
             "figure{margin:0;overflow-x:auto}svg{max-width:100%;height:auto;font-family:system-ui,sans-serif}\n"
             "table{border-collapse:collapse;font-size:13px;margin:8px 0}th,td{padding:3px 12px 3px 0;"
             "text-align:left;vertical-align:top;border-bottom:1px solid var(--rule);overflow-wrap:anywhere}"
             "th{font-weight:600;overflow-wrap:normal}.n{text-align:right;white-space:nowrap;font-variant-numeric:"
             "tabular-nums}.pairs "
             "th{color:var(--dim);font-weight:400;white-space:nowrap}\n"
             ".dim{color:var(--dim)}svg text{fill:var(--ink)}svg .dim{fill:var(--dim)}"
             "svg .grid{stroke:var(--rule)}.frame{fill:none;stroke:var(--rule)}.hit{fill:var(--s2)}"
             ".miss{fill:var(--s5)}.area{fill:var(--c0);stroke:var(--s0)}.curve path{fill:none;"
             "stroke:var(--s0)}\n"
             ".figures{display:flex;flex-wrap:wrap;gap:10px}.figure{background:var(--band);border:1px solid "
             "var(--rule);border-radius:8px;padding:8px 14px}.figure span{display:block;font-size:12px;"
             "color:var(--dim)}.figure b{font-size:18px}\n"
             ".samples{display:flex;flex-wrap:wrap;gap:12px}.sample{width:128px;padding:8px;border:1px solid "
             "var(--rule);border-radius:8px;font-size:12px;overflow:hidden}.sample.good{border-left:4px solid "
             "var(--good)}.sample.bad{border-left:4px solid var(--bad)}.sample code{display:block;"
             "overflow-wrap:anywhere}.pixels{image-rendering:pixelated;background:#000}\n"
             ".charts{display:flex;flex-wrap:wrap;gap:16px 28px}.charts "
             "svg{max-width:100%}.side{display:flex;flex-wrap:wrap;gap:24px;align-items:flex-start}pre{background:var(-"
             "-band);"
             "border:1px solid var(--rule);border-radius:8px;padding:12px;white-space:pre-wrap;"
             "overflow-wrap:anywhere}.tall{max-height:900px;overflow:auto;border:1px solid var(--rule);"
             "border-radius:8px}\n"
             "@media screen and (max-width:640px){body{padding:16px}table{display:block;overflow-x:auto}}\n"
             "@media print{:root,html svg.mw-graph,html svg.mw-plot{");
    mw__text_puts(out, mw__palette_light);
    mw__text_puts(
        out, "}body{max-width:none;padding:0;font-size:11px}section,figure,tr,svg,.sample,.figure{break-inside:"
             "avoid}section{break-inside:auto}h2,h3{break-after:avoid}.tall{max-height:none;overflow:visible;"
             "border:0}.tall svg{max-height:22cm;width:auto}.charts{display:block}.charts "
             "svg{width:48%;display:inline-block}.matrix{max-height:12cm;width:auto}.pixels,.hit,.miss,.area,svg *{"
             "print-color-adjust:exact;-webkit-print-color-adjust:exact}}\n</style>\n");
}

static void put_head(const mw__report *r)
{
    mw__text *out = r->out;
    const char *title = r->options.title != NULL ? r->options.title : "Report";
    mw__text_puts(out, "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"/>\n<meta name=\"viewport\" "
                       "content=\"width=device-width, initial-scale=1\"/>\n<title>");
    mw__put_escaped(out, title, 200);
    mw__text_puts(out, "</title>\n");
    put_style(out);
    mw__text_puts(out, "</head><body>\n<h1>");
    mw__put_escaped(out, title, 200);
    mw__text_puts(out, "</h1>\n");
}

/* ---- the network ---- */

static void put_layer(const mw_summary_layer *l, mw__text *out)
{
    mw__text_puts(out, "<tr><td>");
    mw__put_escaped(out, l->name, 60);
    mw__text_puts(out, "</td><td>");
    mw__put_escaped(out, l->kind, 40);
    mw__text_puts(out, "</td><td>");
    mw__put_escaped(out, l->detail, 60);
    mw__text_puts(out, "</td><td>");
    if (l->dtype != MW_DTYPE_NONE) {
        mw__text_printf(out, "%s ", mw_dtype_name(l->dtype));
        mw__put_shape(out, l->shape);
    }
    mw__text_puts(out, "</td><td class=\"n\">");
    if (l->parameters > 0)
        mw__put_digits(out, (uint64_t)l->parameters);
    mw__text_puts(out, "</td><td class=\"n\">");
    if (l->operation_count > 0)
        mw__put_flops(out, l->flops, l->unknown_flops);
    mw__text_puts(out, "</td></tr>\n");
}

static mw_status put_layers(const mw__report *r)
{
    enum { LISTED = 400 };
    mw_summary *summary = mw__summary_create(r->graph, true, r->err);
    if (summary == NULL)
        return r->err->status;
    mw__text_puts(r->out, "<table><thead><tr><th>name</th><th>kind</th><th></th><th>result</th><th "
                          "class=\"n\">parameters</th><th class=\"n\">flop</th></tr></thead><tbody>\n");
    for (size_t i = 0; i < summary->count && i < LISTED; i++)
        put_layer(&summary->layers[i], r->out);
    mw__text_puts(r->out, "</tbody></table>\n");
    if (summary->count > LISTED)
        mw__text_printf(r->out, "<p class=\"dim\">and %zu more</p>\n", summary->count - LISTED);
    mw_summary_destroy(summary);
    return MW_OK;
}

static mw_status put_graph(const mw__report *r)
{
    mw_draw_options options = mw_draw_defaults();
    if (r->graph == NULL)
        return MW_OK;
    options.most = 300;
    options.title = "Layers";
    mw__section(r->out, "Network");
    mw__text_puts(r->out, "<figure class=\"tall\">");
    MW_TRY(mw__draw_graph(r->graph, &options, false, r->out, r->err));
    mw__text_puts(r->out, "</figure>\n");
    MW_TRY(put_layers(r));
    mw__section_end(r->out);
    return MW_OK;
}

/* ---- plan, command ---- */

static mw_status put_plan(const mw__report *r)
{
    if (r->options.plan != NULL)
        return mw__page_plan(r, r->options.plan);
    if (r->options.trainer == NULL)
        return MW_OK;
    mw_error none = {0}; /* a device that tells no plan is no failure of the report */
    mw_plan *plan = mw_plan_create_trainer(r->options.trainer, MW_TRAINER_STEP, &none);
    const mw_status status = plan != NULL ? mw__page_plan(r, plan) : MW_OK;
    mw_plan_destroy(plan);
    return status;
}

static void put_command(const mw__report *r)
{
    if (r->options.command == NULL)
        return;
    mw__section(r->out, "What makes it again");
    mw__text_puts(r->out, "<pre>");
    const char *at = r->options.command;
    for (size_t part; *at != '\0'; at += part) { /* lines stay lines */
        char line[401];
        part = strcspn(at, "\n");
        part = part < sizeof line - 1 ? part : sizeof line - 1;
        memcpy(line, at, part);
        line[part] = '\0';
        mw__put_escaped(r->out, line, sizeof line - 1);
        if (at[part] == '\n') {
            mw__text_puts(r->out, "\n");
            part++;
        }
    }
    mw__text_puts(r->out, "</pre>\n");
    mw__section_end(r->out);
}

/* ---- options ---- */

static mw_status check_pointers(const mw_report_options *o, mw_error *err)
{
    for (size_t i = 0; i < o->other_count; i++)
        if (o->others == NULL || o->others[i] == NULL)
            return mw__fail(err, MW_ERROR_ARGUMENT, "report: other run %zu is NULL", i);
    for (size_t i = 0; i < o->configuration_count; i++)
        if (o->configuration == NULL || o->configuration[i].key == NULL || o->configuration[i].value == NULL)
            return mw__fail(err, MW_ERROR_ARGUMENT, "report: pair %zu of the configuration is NULL", i);
    for (size_t i = 0; o->class_names != NULL && i < o->class_count; i++)
        if (o->class_names[i] == NULL)
            return mw__fail(err, MW_ERROR_ARGUMENT, "report: the name of class %zu is NULL", i);
    return MW_OK;
}

static mw_status check_numbers(const mw_report_options *o, mw_error *err)
{
    enum { MOST = 8, COUNT_MAX = 1 << 24 };
    if (o->number_count > MOST || (o->numbers == NULL && o->number_count > 0))
        return mw__fail(err, MW_ERROR_ARGUMENT, "report: %zu sets of numbers%s; 0 to %d are allowed", o->number_count,
                        o->numbers == NULL ? " at NULL" : "", MOST);
    for (size_t i = 0; i < o->number_count; i++) {
        const mw_report_numbers *n = &o->numbers[i];
        if (n->predicted == NULL || n->truth == NULL || n->count < 1 || n->count > COUNT_MAX)
            return mw__fail(err, MW_ERROR_ARGUMENT, "report: numbers %zu: %s", i,
                            n->predicted == NULL || n->truth == NULL ? "an array is NULL"
                                                                     : "1 to 2^24 examples are allowed");
        for (size_t k = 0; n->is_probability && k < n->count; k++)
            if (!(n->predicted[k] >= 0.0F && n->predicted[k] <= 1.0F) || (n->truth[k] != 0.0F && n->truth[k] != 1.0F))
                return mw__fail(
                    err, MW_ERROR_ARGUMENT,
                    "report: numbers %zu: example %zu has the probability %g and the truth %g; 0 to 1, and 0 "
                    "or 1 are allowed",
                    i, k, (double)n->predicted[k], (double)n->truth[k]);
    }
    return MW_OK;
}

static mw_status check_report_options(const mw_report_options *o, mw_error *err)
{
    if (o == NULL)
        return mw__fail(err, MW_ERROR_ARGUMENT, "report: the options are NULL");
    if (o->struct_size != sizeof *o)
        return mw__fail(err, MW_ERROR_ARGUMENT, "report: the options were not made by mw_report_defaults");
    if (o->samples < 0 || o->samples > 64 || o->other_count >= RUNS_MAX)
        return mw__fail(err, MW_ERROR_ARGUMENT,
                        "report: %d samples and %zu other runs; 0 to 64 and 0 to %d are allowed", o->samples,
                        o->other_count, RUNS_MAX - 1);
    if (o->picture == NULL || o->label == NULL)
        return mw__fail(err, MW_ERROR_ARGUMENT, "report: the name of the %s is NULL",
                        o->picture == NULL ? "picture" : "label");
    if (o->confusion != NULL && (o->class_count < 2 || o->class_count > CLASSES_MAX))
        return mw__fail(err, MW_ERROR_ARGUMENT, "report: %zu classes; 2 to %d are allowed", o->class_count,
                        CLASSES_MAX);
    MW_TRY(check_numbers(o, err));
    return check_pointers(o, err);
}

/* ---- all ---- */

static mw_status put_page(mw__report *r)
{
    MW_TRY(mw__page_predict(r));
    put_head(r);
    mw__page_figures(r);
    mw__page_end(r);
    MW_TRY(mw__page_curves(r));
    mw__page_classes(r);
    MW_TRY(mw__page_numbers(r));
    mw__page_samples(r);
    MW_TRY(put_graph(r));
    MW_TRY(put_plan(r));
    mw__page_configuration(r);
    put_command(r);
    mw__text_puts(r->out, "</body></html>\n");
    return mw__text_check(r->out, r->err);
}

static mw_status report(const mw_report_options *options, mw__text *out, mw_error *err)
{
    mw__arena arena;
    mw__curves curves = {0};
    MW_TRY(check_report_options(options, err));
    mw__arena_init(&arena, options->allocator);
    mw__report r = {.arena = &arena, .options = *options, .out = out, .err = err};
    r.graph = options->graph != NULL ? options->graph : mw_model_get_info(options->model).graph;
    mw_status status = MW_OK;
    if (options->metrics != NULL) {
        status = mw__curves_read(&curves, options->allocator, options->metrics, err);
        r.curves = &curves;
    }
    if (status == MW_OK)
        status = put_page(&r);
    if (r.curves != NULL)
        mw__curves_deinit(&curves);
    mw__arena_deinit(&arena);
    return status;
}

mw_status mw_report_write(const mw_report_options *options, const char *path, mw_error *err)
{
    MW__FLOAT_SCOPE;
    mw_error own = {0};
    err = err != NULL ? err : &own;
    if (mw__skips(err))
        return err->status;
    if (path == NULL)
        return mw__fail(err, MW_ERROR_ARGUMENT, "report: the path is NULL");
    mw__text text;
    mw__text_init(&text, options != NULL && options->struct_size == sizeof *options ? options->allocator : NULL);
    mw_status status = report(options, &text, err);
    if (status == MW_OK)
        status = mw__file_write(text.allocator, path, text.data, text.size, false, err);
    mw__text_deinit(&text);
    return status;
}

char *mw_report_print(const mw_report_options *options, mw_error *err)
{
    MW__FLOAT_SCOPE;
    mw_error own = {0};
    err = err != NULL ? err : &own;
    if (mw__skips(err))
        return NULL;
    mw__text text;
    mw__text_init(&text, mw__allocator_default()); /* mw_string_free knows no other */
    if (report(options, &text, err) == MW_OK)
        return mw__text_take(&text, err);
    mw__text_deinit(&text);
    return NULL;
}
