/* Which fusion patterns are found in small graphs, why the others are not, and that all give the bits of the operations
 * one by one (MW_ENGINE_FUSE=0) and of the program that is compiled without them, on numbers whose sums are exact in
 * any order. A row that is found nowhere fails by its name; one whose kernel the processor lacks is counted as skipped.
 */
#include "base/memory/alloc.h"
#include "engine/compile/pattern_cases.h"
#include "engine/compile/patterns/patterns.h"
#include "engine/core/kernel.h"
#include "engine/kernels/gemm/blas.h"
#include "engine/run.h"
#include "support/check.h"
#include "support/on_engine.h"
#include "support/passes/seen_passes.h"

#include <millwright/millwright.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool has_kernel(const pattern_case *c)
{
    return c->need == PATTERN_NEEDS_NOTHING || level_here() == MW__LEVEL_AVX512;
}

static bool is_found(const pattern_case *c) { return c->declined == NULL; }

/* ---- what is found ---- */

/* Of several attempts, one that found it counts before those that declined. */
static void check_notes(void *user, const mw_pass *pass)
{
    const pattern_case *c = user;
    const char *outcome = "never applied";
    for (size_t i = 0; i < pass->note_count && strcmp(outcome, "found") != 0; i++)
        if (strcmp(pass->notes[i].rule, c->pattern) == 0)
            outcome = pass->notes[i].refused != NULL ? pass->notes[i].refused : "found";
    const char *wanted = c->declined != NULL ? c->declined : "found";
    check_note(strcmp(outcome, wanted) == 0, __FILE__, __LINE__, "%s: \"%s\", not \"%s\"", c->pattern, outcome, wanted);
}

static void explain(const pattern_case *c, const mw__library *library)
{
    mw_error err = {0};
    mw__arena arena;
    mw__arena_init(&arena, NULL);
    mw__pass_log log;
    mw__pass_run run;
    mw__config config;
    mw__pass_log_init(&log, mw__allocator_default());
    log.report = check_notes;
    log.user = (void *)(uintptr_t)c;
    log.why = "*";
    run_config(&config, &err);
    CHECK_OK(err);
    if (c->need == PATTERN_NEEDS_LEVEL)
        config.level = MW__LEVEL_AVX512;
    const mw__plan_request request = {
        .function = library->graph->functions[0], .arena = &arena, .config = &config, .partitions = 1, .log = &log};
    mw__pass_begin(&run, &log, MW__RULE_patterns, NULL, 0);
    CHECK(mw__patterns_find(&request, &err) != NULL);
    CHECK_OK(err);
    mw__pass_end(&run, &(mw__pass_result){0});
    mw__pass_log_deinit(&log);
    mw__arena_deinit(&arena);
}

/* ---- bits ---- */

enum { ELEMENTS = 16384 }; /* of all outputs, at most */

static void fill(float *data, size_t count)
{
    for (size_t i = 0; i < count; i++)
        data[i] = (float)((i * 37 + count) % 17) / 8.0f - 1.0f;
}

static void bind_input(run_program *r, const mw_tensor *value)
{
    const size_t count = (size_t)mw_shape_count(value->type->shape);
    float *data = run_bind(r, false, value->name, count * sizeof *data);
    if (data != NULL)
        fill(data, count);
}

static bool compute(const char *text, const mw__block *body, float *out)
{
    run_program r;
    if (!run_open(&r, text, E5RT_CPU, 2))
        return false;
    for (size_t i = 0; i < body->input_count; i++)
        bind_input(&r, body->inputs[i]);
    for (size_t i = 0; i < body->output_count; i++) {
        const size_t count = (size_t)mw_shape_count(body->outputs[i]->type->shape);
        run_bind_data(&r, true, body->outputs[i]->name, out, count * sizeof *out);
        out += count;
    }
    const bool done = run_encode(&r) && run_execute(&r);
    run_close(&r);
    return done;
}

static void check_bits(const pattern_case *c, const char *text, const mw__block *body)
{
    float *fused = calloc(ELEMENTS, sizeof *fused), *plain = calloc(ELEMENTS, sizeof *plain);
    REQUIRE(fused != NULL && plain != NULL);
    bool done = compute(text, body, fused);
    run_set("MW_ENGINE_FUSE", "0");
    done = done && compute(text, body, plain);
    run_set("MW_ENGINE_FUSE", NULL);
    check_note(done && memcmp(fused, plain, ELEMENTS * sizeof *fused) == 0, __FILE__, __LINE__, "%s: other bits",
               c->pattern);
    free(fused);
    free(plain);
}

static void check_case(const pattern_case *c)
{
    mw_error err = {0};
    mw_graph *graph = pattern_case_graph(c);
    char *text = mw_graph_print_mil(graph, NULL, &err);
    CHECK_OK(err);
    if (c->off != NULL)
        run_set(c->off, c->at);
    mw__library *library = text != NULL ? run_library(text, 1, &err) : NULL;
    CHECK_OK(err);
    if (library != NULL)
        explain(c, library);
    if (c->off != NULL)
        run_set(c->off, NULL);
    if (library != NULL && c->off == NULL && has_kernel(c))
        check_bits(c, text, library->graph->functions[0]->body);
    if (library != NULL)
        mw__object_release(library);
    mw_string_free(text);
    mw_graph_destroy(graph);
}

static void test_patterns_are_found_or_declined_with_a_reason(void)
{
    for (size_t i = 0; pattern_case_at(i) != NULL; i++)
        if (has_kernel(pattern_case_at(i)) || pattern_case_at(i)->need == PATTERN_NEEDS_LEVEL)
            check_case(pattern_case_at(i));
}

/* ---- rows ---- */

static size_t row_count(void) { return MW__RULE_COUNT - MW__RULE_BEFORE_PATTERNS - 1; }

static mw__rule_id id_of(size_t row) { return (mw__rule_id)(MW__RULE_BEFORE_PATTERNS + 1 + row); }

/* Where it is found; NULL = nowhere. */
static const pattern_case *case_of(size_t row)
{
    const char *name = mw__pass_rule_of(id_of(row))->name;
    size_t i = 0;
    while (pattern_case_at(i) != NULL &&
           !(is_found(pattern_case_at(i)) && strcmp(pattern_case_at(i)->pattern, name) == 0))
        i++;
    return pattern_case_at(i);
}

static void test_every_row_is_found_somewhere(void)
{
    for (size_t i = 0; i < row_count(); i++)
        check_note(case_of(i) != NULL, __FILE__, __LINE__, "row %s is found in no case of pattern_cases.c",
                   mw__pass_rule_of(id_of(i))->name);
}

static void test_every_row_that_the_processor_has_is_run(void)
{
    char names[400] = "";
    size_t count = 0;
    for (size_t i = 0; i < row_count(); i++) {
        if (case_of(i) == NULL || has_kernel(case_of(i)))
            continue;
        snprintf(names + strlen(names), sizeof names - strlen(names), "%s%s", count > 0 ? ", " : "",
                 case_of(i)->pattern);
        count++;
    }
    if (count > 0)
        SKIP("%zu of %zu rows have kernels of AVX-512 alone, which is not here: %s", count, row_count(), names);
}

/* ---- without one ---- */

static mw_program *compile(const mw_graph *graph, const char *off, seen_passes *seen, mw_error *err)
{
    mw_compile_options options = engine_options(MW_DEVICE_CPU, 1); /* as explain */
    options.passes = (mw_passes){.off = off, .report = seen_report, .report_user = seen, .texts = true};
    return mw_program_create(graph, &options, err);
}

static void feed(mw_program *program, const mw_port *port)
{
    mw_error err = {0};
    float *data = mw_program_view(program, port->name, &err);
    CHECK_OK(err);
    if (data != NULL)
        fill(data, (size_t)mw_shape_count(port->shape));
}

static void run_ports(mw_program *program, float *out)
{
    mw_error err = {0};
    mw_port port;
    for (size_t i = 0; mw_program_port_at(program, i, &port); i++)
        if (!port.is_output)
            feed(program, &port);
    mw_program_run(program, &err);
    for (size_t i = 0; mw_program_port_at(program, i, &port); i++) {
        const size_t count = port.is_output ? (size_t)mw_shape_count(port.shape) : 0;
        if (count > 0)
            mw_program_read(program, port.name, MW_F32, out, count, &err);
        out += count;
    }
    CHECK_OK(err);
}

static void compare_programs(const char *row, mw_program *whole, mw_program *without)
{
    float *wanted = calloc(ELEMENTS, sizeof *wanted), *got = calloc(ELEMENTS, sizeof *got);
    REQUIRE(wanted != NULL && got != NULL);
    run_ports(whole, wanted);
    run_ports(without, got);
    check_note(memcmp(wanted, got, ELEMENTS * sizeof *got) == 0, __FILE__, __LINE__, "without %s: other bits", row);
    free(wanted);
    free(got);
}

static void check_sound(const char *row, const seen_passes *seen)
{
    check_note(seen->broken == NULL, __FILE__, __LINE__, "%s: %s breaks its invariant", row, seen->broken);
}

/* Other steps, or another row in its place: conv.dweight.alone finds what conv.dweight leaves. */
static bool is_other(const seen_passes *with, const seen_passes *left, mw__rule_id id)
{
    size_t i = MW__RULE_FIRST_PATTERN;
    while (i < MW__RULE_COUNT && (i == (size_t)id || with->hits[i] == left->hits[i]))
        i++;
    return i < MW__RULE_COUNT || seen_differ(with, left);
}

static void check_left_out(const pattern_case *c, mw__rule_id id)
{
    mw_error err = {0};
    seen_passes with = {0}, left = {0};
    mw_graph *graph = pattern_case_graph(c);
    mw_program *whole = compile(graph, NULL, &with, &err), *without = compile(graph, c->pattern, &left, &err);
    if (CHECK_OK(err)) {
        check_note(with.hits[id] > 0, __FILE__, __LINE__, "%s: no hits", c->pattern);
        check_note(left.hits[id] == 0, __FILE__, __LINE__, "%s: hits though it is left out", c->pattern);
        check_note(is_other(&with, &left, id), __FILE__, __LINE__, "%s: the same steps without it", c->pattern);
        check_sound(c->pattern, &with);
        check_sound(c->pattern, &left);
        compare_programs(c->pattern, whole, without);
    }
    mw_program_destroy(whole);
    mw_program_destroy(without);
    mw_graph_destroy(graph);
    seen_deinit(&with);
    seen_deinit(&left);
}

static void test_every_row_is_left_out_by_its_name(void)
{
    for (size_t i = 0; i < row_count(); i++)
        if (case_of(i) != NULL && has_kernel(case_of(i)))
            check_left_out(case_of(i), id_of(i));
}

/* Without AVX-512 a BLAS would be taken, which has no kernels of ours and adds in an order of its own. */
int main(void)
{
    mw__blas_choose("none", NULL);
    RUN(test_patterns_are_found_or_declined_with_a_reason);
    RUN(test_every_row_is_found_somewhere);
    RUN(test_every_row_that_the_processor_has_is_run);
    RUN(test_every_row_is_left_out_by_its_name);
    return check_finish();
}
