/* Plans of programs at random and of real files: what holds of every plan, that operands are ready, that a plan is the
 * same each time, and that every allocation may fail. */
#include "graph/ir/ir.h"
#include "plan_properties.h"
#include "plan_text.h"
#include "support/check.h"
#include "support/chip/legality_cases.h"
#include "support/failing.h"

#include <dirent.h>
#include <millwright/chip_all.h>
#include <millwright/millwright.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT = 1 << 16, VALUES = 40, PROGRAMS = 60 };

/* ---- operands are ready: by the graph itself ---- */

static size_t layer_of(const mw_chip_plan *plan, const mw_tensor *value)
{
    const mw_chip_plan_op *op = value != NULL && value->name != NULL ? plan_op(plan, value->name) : NULL;
    return op != NULL ? op->layer : MW_CHIP_NONE;
}

static void check_dependencies(const mw_chip_plan *plan, const mw_graph *graph)
{
    const mw__block *body = graph->functions[0]->body;
    for (size_t i = 0; i < body->op_count; i++) {
        const mw__op *op = body->ops[i];
        const size_t mine = op->result_count > 0 ? layer_of(plan, op->results[0]) : MW_CHIP_NONE;
        for (size_t s = 0; s < op->slot_count; s++)
            for (size_t k = 0; k < op->slots[s].count; k++) {
                const size_t from = layer_of(plan, op->slots[s].operands[k].value);
                check_note(mine == MW_CHIP_NONE || from == MW_CHIP_NONE || from <= mine, __FILE__, __LINE__,
                           "\"%s\" is in layer %zu and its operand in %zu", op->results[0]->name, mine, from);
            }
    }
}

/* ---- programs at random ---- */

static unsigned random_state;

static unsigned pick(unsigned count)
{
    random_state = random_state * 1664525u + 1013904223u;
    return (random_state >> 8) % count;
}

typedef struct written {
    char text[TEXT];
    size_t used;
    int values;
    int size; /* of images */
} written;

static void add(written *w, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void add(written *w, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    w->used += (size_t)vsnprintf(w->text + w->used, sizeof w->text - w->used, format, arguments);
    va_end(arguments);
}

/* One operation on what is there, all of one shape, so that any fits any. */
static void add_operation(written *w)
{
    const unsigned x = pick((unsigned)w->values), y = pick((unsigned)w->values), kind = pick(12);
    static const char *const functions[] = {"relu", "sigmoid", "tanh", "abs"};
    const int s = w->size, v = w->values++;
    if (kind == 0)
        add(w,
            "tensor<fp16, [16, 16, 3, 3]> w%d = const()[val = tensor<fp16, [16, 16, 3, 3]>(BLOBFILE(path = "
            "string(\"@model_path/w.bin\"), offset = uint64(64)))]; ",
            v);
    if (kind == 1)
        add(w, "tensor<fp16, [1, 16, %d, %d]> t%d = transpose(perm = tensor<int32, [4]>([0, 1, 3, 2]), x = v%u); ", s,
            s, v, x);
    add(w, "tensor<fp16, [1, 16, %d, %d]> v%d = ", s, s, v);
    if (kind == 0)
        add(w, "conv(pad_type = string(\"same\"), weight = w%d, x = v%u); ", v, x);
    else if (kind == 1)
        add(w, "transpose(perm = tensor<int32, [4]>([0, 1, 3, 2]), x = t%d); ", v);
    else if (kind == 2)
        add(w, "softmax(axis = int32(1), x = v%u); ", x);
    else if (kind == 3)
        add(w, "mul(x = v%u, y = fp16(0.5)); ", x);
    else if (kind == 4)
        add(w, "add(x = v%u, y = fp16(1.5)); ", x);
    else if (kind <= 6)
        add(w, "add(x = v%u, y = v%u); ", x, y);
    else if (kind == 7)
        add(w, "matmul(transpose_y = bool(true), x = v%u, y = v%u); ", x, y);
    else if (kind == 8)
        add(w, "transpose(perm = tensor<int32, [4]>([0, 1, 3, 2]), x = v%u); ", x);
    else
        add(w, "%s(x = v%u); ", functions[pick(4)], x);
}

static mw_graph *random_graph(unsigned seed)
{
    static written w;
    static const int sizes[] = {8, 64, 160, 400};
    mw_error err = {0};
    random_state = seed;
    w = (written){.values = 1, .size = sizes[pick(4)]};
    add(&w, "program(1.3)\n{func main<ios18>(tensor<fp16, [1, 16, %d, %d]> v0) {", w.size, w.size);
    const int count = 3 + (int)pick(VALUES);
    for (int i = 0; i < count; i++)
        add_operation(&w);
    add(&w, "} -> (v%d, v%d);}", w.values - 1, w.values - 2);
    mw_graph *graph = mw_graph_parse_mil(w.text, w.used, NULL, NULL, &err);
    check_note(graph != NULL, __FILE__, __LINE__, "%s in %s", err.message, w.text);
    return graph;
}

static void change(mw_chip_plan_options *o, unsigned seed)
{
    random_state = seed + 1000;
    o->co_issue_window = pick(4);
    o->branch_score = (mw_chip_score)pick(3);
    o->merge_score = (mw_chip_score)pick(3);
    o->order = (mw_chip_order)pick(2);
    o->absorbers = (mw_chip_absorbers)pick(3);
    o->margin = 0.1 + pick(10) * 0.1;
    o->margin = o->margin > 1 ? 1 : o->margin;
    o->no_ring_buffers = pick(4) == 0;
    o->as_it_is = pick(2) == 0;
}

static void test_plans_of_random_programs_hold(void)
{
    for (unsigned seed = 0; seed < PROGRAMS; seed++) {
        char name[32];
        mw_error err = {0};
        mw_chip_plan_options options = plan_options();
        mw_graph *graph = random_graph(seed);
        if (seed % 2 == 1)
            change(&options, seed);
        mw_chip_plan *plan = mw_chip_plan_create(graph, seed % 3 == 0 ? MW_CHIP_H13 : MW_CHIP_H17, &options, &err);
        snprintf(name, sizeof name, "seed %u", seed);
        check_note(plan != NULL, __FILE__, __LINE__, "%s: %s", name, err.message);
        plan_check_properties(plan, name);
        if (options.as_it_is)
            check_dependencies(plan, graph);
        mw_chip_plan_destroy(plan);
        mw_graph_destroy(graph);
    }
}

/* ---- real files ---- */

static char *read_text(const char *folder, const char *name, size_t *size)
{
    char path[1024];
    snprintf(path, sizeof path, "%s/%s/model.mil", folder, name);
    FILE *file = fopen(path, "rb");
    if (file == NULL)
        return NULL;
    fseek(file, 0, SEEK_END);
    *size = (size_t)ftell(file);
    char *text = malloc(*size + 1);
    rewind(file);
    *size = text != NULL ? fread(text, 1, *size, file) : 0;
    fclose(file);
    return text;
}

static int check_file(const char *folder, const char *name, mw_chip chip, bool as_it_is)
{
    mw_error err = {0};
    size_t size = 0;
    char *text = read_text(folder, name, &size);
    mw_graph *graph = text != NULL ? mw_graph_parse_mil(text, size, NULL, NULL, &err) : NULL;
    mw_chip_plan_options options = mw_chip_plan_defaults();
    options.as_it_is = as_it_is;
    mw_chip_plan *plan = graph != NULL ? mw_chip_plan_create(graph, chip, &options, &err) : NULL;
    /* what has no shapes is refused by name, and nothing else */
    check_note(text == NULL || plan != NULL || err.status == MW_ERROR_SHAPE, __FILE__, __LINE__, "%s: %s", name,
               err.message);
    plan_check_properties(plan, name);
    const int planned = plan != NULL;
    mw_chip_plan_destroy(plan);
    mw_graph_destroy(graph);
    free(text);
    return planned;
}

static void test_plans_of_real_files_hold(void)
{
    const char *folder = MW_SHARED_DATA "/mil";
    DIR *all = opendir(folder);
    const struct dirent *entry;
    int planned = 0;
    if (all == NULL)
        SKIP("no real files");
    while ((entry = readdir(all)) != NULL)
        if (entry->d_name[0] != '.') {
            planned += check_file(folder, entry->d_name, MW_CHIP_H13, false);
            check_file(folder, entry->d_name, MW_CHIP_H17, true);
        }
    closedir(all);
    check_note(planned >= 20, __FILE__, __LINE__, "%d files planned", planned);
}

/* ---- what is refused, wrong or large ---- */

/* Each program that trips a rule of the check, for every chip, has a plan as it stands: what has no shapes is refused
 * by name. */
static void test_programs_that_a_chip_refuses_have_plans(void)
{
    const legality_case *c;
    int planned = 0;
    for (size_t i = 0; (c = legality_case_at(i)) != NULL; i++)
        for (int chip = MW_CHIP_H11; chip <= MW_CHIP_H18; chip++) {
            static char text[TEXT];
            mw_error err = {0};
            const mw_chip_plan_options options = plan_options();
            legality_text(c->inputs, c->trips, text, sizeof text);
            mw_graph *graph = mw_graph_parse_mil(text, strlen(text), NULL, NULL, &err);
            mw_chip_plan *plan = mw_chip_plan_create(graph, (mw_chip)chip, &options, &err);
            check_note(plan != NULL || err.status == MW_ERROR_SHAPE, __FILE__, __LINE__, "%s: %s", c->rule,
                       err.message);
            plan_check_properties(plan, c->rule);
            planned += plan != NULL;
            mw_chip_plan_destroy(plan);
            mw_graph_destroy(graph);
        }
    CHECK(planned > 400);
}

static mw_chip_plan *plan_of_many(int count, mw_error *err)
{
    const size_t room = (size_t)count * 96 + 256;
    char *text = malloc(room);
    const mw_chip_plan_options options = plan_options();
    if (text == NULL)
        return NULL;
    size_t used = (size_t)snprintf(text, room, "program(1.3)\n{func main<ios18>(tensor<fp16, [4]> v0) {");
    for (int i = 1; i <= count; i++)
        used += (size_t)snprintf(text + used, room - used,
                                 "tensor<fp16, [4]> v%d = softmax(axis = int32(0), x = v%d);\n", i, i - 1);
    used += (size_t)snprintf(text + used, room - used, "} -> (v%d);}", count);
    mw_graph *graph = mw_graph_parse_mil(text, used, NULL, NULL, err);
    mw_chip_plan *plan = mw_chip_plan_create(graph, MW_CHIP_H17, &options, err);
    mw_graph_destroy(graph);
    free(text);
    return plan;
}

static void test_more_layers_than_a_plan_has_are_refused(void)
{
    mw_error err = {0};
    mw_chip_plan *plan = plan_of_many(1 << 15, &err);
    CHECK_OK(err);
    CHECK_INT(mw_chip_plan_get_totals(plan).layers, 1 << 15);
    mw_chip_plan_destroy(plan);
    CHECK(plan_of_many((1 << 15) + 1, &err) == NULL);
    CHECK_ERROR(err, MW_ERROR_UNSUPPORTED, "32768 layers");
}

static void test_short_texts_that_declare_much_have_plans(void)
{
    const char *inputs = "tensor<fp16, [1000000, 1000000, 1000000]> x";
    const char *body = "tensor<fp16, [1000000, 1000000, 1000000]> a = softmax(axis = int32(1), x = x); tensor<fp16, "
                       "[1000000, 1000000, 1000000]> y = add(x = a, y = x);";
    mw_chip_plan *plan = plan_of_text(inputs, body, "y", MW_CHIP_H17, NULL);
    plan_check_properties(plan, "terabytes");
    mw_chip_plan_destroy(plan);
}

/* ---- the same each time; memory that fails ---- */

static void test_a_plan_is_the_same_each_time(void)
{
    mw_error err = {0};
    mw_graph *a = random_graph(7), *b = random_graph(7);
    mw_chip_plan *first = mw_chip_plan_create(a, MW_CHIP_H13, NULL, &err);
    mw_chip_plan *second = mw_chip_plan_create(b, MW_CHIP_H13, NULL, &err);
    char *one = mw_chip_plan_print(first, &err), *other = mw_chip_plan_print(second, &err);
    CHECK_OK(err);
    CHECK(one != NULL && other != NULL && strcmp(one, other) == 0);
    mw_string_free(one);
    mw_string_free(other);
    mw_chip_plan_destroy(first);
    mw_chip_plan_destroy(second);
    mw_graph_destroy(a);
    mw_graph_destroy(b);
}

static void test_every_allocation_may_fail(void)
{
    mw_graph *graph = random_graph(4);
    for (long n = 0;; n++) {
        mw_error err = {0};
        failing_allocator failing = {.fail_at = n};
        const mw_allocator allocator = failing_allocator_of(&failing);
        mw_chip_plan_options options = mw_chip_plan_defaults();
        options.allocator = &allocator;
        mw_chip_plan *plan = mw_chip_plan_create(graph, MW_CHIP_H17, &options, &err);
        if (!failing.failed) {
            CHECK(plan != NULL && n > 10);
            mw_chip_plan_destroy(plan);
            CHECK_INT(failing.live, 0);
            break;
        }
        if (!check_note(plan == NULL && err.status == MW_ERROR_MEMORY, __FILE__, __LINE__, "allocation %ld: %s", n,
                        err.message))
            break;
        CHECK_INT(failing.live, 0);
    }
    mw_graph_destroy(graph);
}

static void test_wrong_arguments_are_refused(void)
{
    mw_error err = {0};
    mw_graph *graph = random_graph(1);
    mw_chip_plan_options options = mw_chip_plan_defaults();
    CHECK(mw_chip_plan_create(NULL, MW_CHIP_H13, NULL, &err) == NULL);
    CHECK_ERROR(err, MW_ERROR_ARGUMENT, "NULL");
    err = (mw_error){0};
    CHECK(mw_chip_plan_create(graph, (mw_chip)99, NULL, &err) == NULL);
    CHECK_ERROR(err, MW_ERROR_ARGUMENT, "chip 99");
    err = (mw_error){0};
    options.margin = 0;
    CHECK(mw_chip_plan_create(graph, MW_CHIP_H13, &options, &err) == NULL);
    CHECK_ERROR(err, MW_ERROR_ARGUMENT, "margin");
    err = (mw_error){0};
    options = (mw_chip_plan_options){0};
    CHECK(mw_chip_plan_create(graph, MW_CHIP_H13, &options, &err) == NULL);
    CHECK_ERROR(err, MW_ERROR_ARGUMENT, "mw_chip_plan_defaults");
    err = (mw_error){0};
    CHECK(mw_chip_plan_print(NULL, &err) == NULL);
    CHECK_ERROR(err, MW_ERROR_ARGUMENT, "NULL");
    CHECK(mw_chip_plan_layer_at(NULL, 0) == NULL && mw_chip_plan_get_totals(NULL).layers == 0);
    mw_chip_plan_destroy(NULL);
    mw_graph_destroy(graph);
}

int main(void)
{
    RUN(test_plans_of_random_programs_hold);
    RUN(test_plans_of_real_files_hold);
    RUN(test_programs_that_a_chip_refuses_have_plans);
    RUN(test_more_layers_than_a_plan_has_are_refused);
    RUN(test_short_texts_that_declare_much_have_plans);
    RUN(test_a_plan_is_the_same_each_time);
    RUN(test_every_allocation_may_fail);
    RUN(test_wrong_arguments_are_refused);
    return check_finish();
}
