/* What the planner printed of operations (../shared/data/ane-numerics/planner_estimates.tsv, read there and never
 * copied), replayed by our model of it. Each figure is printed beside ours with the ratio. Figures that the planner
 * took from a decision tree count apart: of its trees no more than a leaf is known. */
#include "chip/cost/roofs.h"
#include "support/check.h"

#include <math.h>
#include <millwright/millwright.h>
#include <stdlib.h>
#include <string.h>

#define FILE_NAME MW_SHARED_DATA "/ane-numerics/planner_estimates.tsv"

enum { LINE = 512, FIELDS = 8, TEXT_MAX = 2048 };

typedef struct row {
    char line[LINE];
    char *field[FIELDS]; /* operation, shape, platform, ane, bnns, classic_cpu, tree, source */
} row;

static bool next_row(FILE *file, row *r)
{
    if (fgets(r->line, sizeof r->line, file) == NULL)
        return false;
    r->line[strcspn(r->line, "\n")] = '\0';
    char *at = r->line;
    for (int i = 0; i < FIELDS; i++) {
        r->field[i] = at;
        at += strcspn(at, "\t");
        if (*at == '\t')
            *at++ = '\0';
    }
    return true;
}

/* ---- the operation of a row ---- */

/* Numbers of the shape in their order: "1x64x32x32, 64 out, 3x3" has 7. */
static int read_numbers(const char *text, int out[8])
{
    int count = 0;
    while (*text != '\0' && count < 8) {
        char *end;
        const long value = strtol(text, &end, 10);
        if (end != text)
            out[count++] = (int)value;
        text = end != text ? end : text + 1;
    }
    return count;
}

#define PAIR(n)   "tensor<int32, [2]>([" #n ", " #n "])"
#define FOUR_AXES "tensor<fp16, [1, %d, %d, %d]>"

static void put_conv(char *text, const int n[8])
{
    snprintf(text, TEXT_MAX,
             FOUR_AXES
             " x|tensor<fp16, [%d, %d, %d, %d]> w = const()[val = tensor<fp16, [%d, %d, %d, %d]>(BLOBFILE("
             "path = string(\"@model_path/w.bin\"), offset = uint64(64)))]; " FOUR_AXES
             " y = conv(dilations = " PAIR(1) ", groups = int32(1), pad = tensor<int32, [4]>([0, 0, 0, 0]), "
                                              "pad_type = string(\"same\"), strides = " PAIR(1) ", weight = w, x = x);",
             n[1], n[2], n[3], n[4], n[1], n[5], n[6], n[4], n[1], n[5], n[6], n[4], n[2], n[3]);
}

static void put_linear(char *text, const int n[8])
{
    snprintf(text, TEXT_MAX,
             "tensor<fp16, [%d, %d, %d]> x|tensor<fp16, [%d, %d]> w = const()[val = tensor<fp16, [%d, %d]>(BLOBFILE("
             "path = string(\"@model_path/w.bin\"), offset = uint64(64)))]; tensor<fp16, [%d, %d, %d]> y = "
             "linear(weight = w, x = x);",
             n[0], n[1], n[2], n[3], n[2], n[3], n[2], n[0], n[1], n[3]);
}

static void put_matmul(char *text, const int n[8])
{
    snprintf(text, TEXT_MAX,
             "tensor<fp16, [%d, %d, %d]> x, tensor<fp16, [%d, %d, %d]> z|tensor<fp16, [%d, %d, %d]> y = matmul("
             "transpose_x = bool(false), transpose_y = bool(false), x = x, y = z);",
             n[0], n[1], n[2], n[0], n[3], n[4], n[0], n[1], n[4]);
}

static void put_sdpa(char *text, const int n[8])
{
#define HEADS "tensor<fp16, [%d, %d, %d, %d]>"
    snprintf(text, TEXT_MAX,
             HEADS " q, " HEADS " k, " HEADS " v|" HEADS
                   " y = scaled_dot_product_attention(key = k, query = q, value = v);",
             n[0], n[1], n[2], n[3], n[0], n[1], n[2], n[3], n[0], n[1], n[2], n[3], n[0], n[1], n[2], n[3]);
}

static void put_topk(char *text, const int n[8], int k)
{
    snprintf(text, TEXT_MAX,
             FOUR_AXES " x|" FOUR_AXES " y, tensor<int32, [1, %d, %d, %d]> z = topk(ascending = bool(false), axis = "
                       "int32(-1), k = int32(%d), return_indices = bool(true), sort = bool(true), x = x);",
             n[0], n[1], n[2], n[0], n[1], k, n[0], n[1], k, k);
}

/* Of what has one operand and a result of its shape. */
static void put_unary(char *text, const char *call, const int n[8])
{
    snprintf(text, TEXT_MAX, "tensor<fp16, [%d, %d, %d]> x|tensor<fp16, [%d, %d, %d]> y = %s;", n[0], n[1], n[2], n[0],
             n[1], n[2], call);
}

static void put_other(char *text, const char *operation, const int n[8])
{
    if (strncmp(operation, "softmax", 7) == 0)
        put_unary(text, "softmax(axis = int32(0), x = x)", n);
    else if (strncmp(operation, "band_part", 9) == 0)
        put_unary(text, "band_part(lower = int32(-1), upper = int32(0), x = x)", n);
    else if (strncmp(operation, "relu", 4) == 0 || strncmp(operation, "abs", 3) == 0)
        put_unary(text, operation[0] == 'r' ? "relu(x = x)" : "abs(x = x)", n);
    else if (strncmp(operation, "transpose", 9) == 0)
        snprintf(text, TEXT_MAX,
                 FOUR_AXES " x|" FOUR_AXES " y = transpose(perm = tensor<int32, [4]>([0, 1, 3, 2]), x = x);", n[0],
                 n[1], n[2], n[0], n[2], n[1]);
    else if (strncmp(operation, "reduce_sum", 10) == 0)
        snprintf(text, TEXT_MAX,
                 FOUR_AXES " x|" FOUR_AXES
                           " y = reduce_sum(axes = tensor<int32, [1]>([1]), keep_dims = bool(true), x = x);",
                 n[0], n[1], n[2], 1, n[1], n[2]);
    else if (strncmp(operation, "add", 3) == 0)
        snprintf(text, TEXT_MAX, FOUR_AXES " x, " FOUR_AXES " z|" FOUR_AXES " y = add(x = x, y = z);", n[0], n[1], n[2],
                 n[0], n[1], n[2], n[0], n[1], n[2]);
    else if (strncmp(operation, "concat", 6) == 0) /* two halves: the bytes that its estimate by 100 GB/s has */
        snprintf(text, TEXT_MAX,
                 FOUR_AXES " x, " FOUR_AXES " z|" FOUR_AXES
                           " y = concat(axis = int32(1), interleave = bool(false), values = (x, z));",
                 n[0] / 2, n[1], n[2], n[0] / 2, n[1], n[2], n[0], n[1], n[2]);
    else if (strncmp(operation, "upsample_bilinear", 17) == 0)
        snprintf(text, TEXT_MAX,
                 FOUR_AXES " x|" FOUR_AXES " y = upsample_bilinear(align_corners = bool(false), scale_factor_height = "
                           "fp32(2.0), scale_factor_width = fp32(2.0), x = x);",
                 n[0], n[1], n[2], n[0], 2 * n[1], 2 * n[2]);
    else if (strncmp(operation, "gather", 6) == 0)
        snprintf(text, TEXT_MAX,
                 FOUR_AXES " x|tensor<int32, [%d]> i = const()[val = tensor<int32, [%d]>(BLOBFILE(path = string("
                           "\"@model_path/w.bin\"), offset = uint64(64)))]; " FOUR_AXES
                           " y = gather(axis = int32(1), indices = i, x = x);",
                 n[0], n[1], n[2], n[3], n[3], n[3], n[1], n[2]);
}

/* "inputs|body" of the row; "" for one that this test does not know. */
static void put_operation(char text[TEXT_MAX], const row *r)
{
    int n[8] = {0}, k[8] = {0};
    const char *operation = r->field[0];
    read_numbers(r->field[1], n);
    read_numbers(operation, k);
    text[0] = '\0';
    if (strcmp(operation, "conv") == 0)
        put_conv(text, n);
    else if (strcmp(operation, "linear") == 0)
        put_linear(text, n);
    else if (strcmp(operation, "matmul") == 0)
        put_matmul(text, n);
    else if (strcmp(operation, "sdpa") == 0)
        put_sdpa(text, n);
    else if (strncmp(operation, "topk", 4) == 0)
        put_topk(text, n, k[0]);
    else
        put_other(text, operation, n);
}

static mw_graph *graph_of(const row *r)
{
    char body[TEXT_MAX], text[2 * TEXT_MAX];
    mw_error err = {0};
    put_operation(body, r);
    char *bar = strchr(body, '|');
    if (bar == NULL)
        return NULL;
    *bar = '\0';
    snprintf(text, sizeof text, "program(1.3)\n{func main<ios18>(%s) {%s} -> (y);}", body, bar + 1);
    mw_graph *graph = mw_graph_parse_mil(text, strlen(text), NULL, NULL, &err);
    check_note(graph != NULL, __FILE__, __LINE__, "%s in %s", err.message, text);
    return graph;
}

/* The operation that makes y: the last. */
static const mw__op *op_of(const mw_graph *graph)
{
    const mw__block *body = mw__graph_main(graph)->body;
    return body->ops[body->op_count - 1];
}

/* ---- theirs and ours ---- */

typedef struct tally {
    int rows, by_roof, by_tree, near_tree, apart; /* near_tree: within a tenth; apart: by roof, and not equal */
} tally;

/* Half of the last digit that is printed of theirs, and one in a thousand as the study prints its roofs with three
 * digits at least (656 GFLOP/s). */
static double tolerance_of(const char *theirs)
{
    const char *point = strchr(theirs, '.');
    const int digits = point != NULL ? (int)strlen(point + 1) : 0;
    return 0.5 * pow(10.0, -digits) + 1e-3 * strtod(theirs, NULL);
}

/* "no", and relu's own rate; what is left open is taken for a tree. */
static bool is_by_roof(const row *r) { return r->field[6][0] == 'n' || r->field[6][0] == '('; }

static void compare_figure(const row *r, const char *platform, const char *backend, const char *theirs, double ours,
                           bool print, tally *out)
{
    const double given = strtod(theirs, NULL), ratio = ours / given;
    const bool by_roof = is_by_roof(r), apart = fabs(ours - given) > tolerance_of(theirs);
    out->by_roof += by_roof;
    out->by_tree += !by_roof;
    out->near_tree += !by_roof && fabs(ratio - 1.0) <= 0.1;
    out->apart += by_roof && apart;
    if (print)
        printf("%-21s %-24s %-5s %-12s theirs %12s us, ours %12.6f, ratio %.5f%s\n", r->field[0], r->field[1], platform,
               backend, theirs, ours, ratio, by_roof ? "" : "  (tree)");
}

static void replay_on(const row *r, const mw__op *op, const char *platform, const char *roofs, bool print, tally *out)
{
    static const char *const names[] = {"ane", "bnns", "classic_cpu"};
    const mw__roof_platform *found = mw__roof_platform_named(roofs);
    REQUIRE(found != NULL);
    for (unsigned b = 0; b < MW__ROOF_BACKENDS; b++)
        if (strtod(r->field[3 + b], NULL) > 0.0) /* else it is "not offered", or not given */
            compare_figure(r, platform, names[b], r->field[3 + b], mw__roof_estimate(found, (mw__roof_backend)b, op).us,
                           print, out);
}

/* A row stands for each platform that it names. */
static void replay_row(row *r, const char *roofs, bool print, tally *out)
{
    mw_graph *graph = graph_of(r);
    check_note(graph != NULL, __FILE__, __LINE__, "no operation for the row %s, %s", r->field[0], r->field[1]);
    for (char *name = graph != NULL ? strtok(r->field[2], " ") : NULL; name != NULL; name = strtok(NULL, " "))
        replay_on(r, op_of(graph), name, roofs != NULL ? roofs : name, print, out);
    out->rows++;
    mw_graph_destroy(graph);
}

static void test_every_row_is_replayed(void)
{
    row r;
    tally all = {0};
    FILE *file = fopen(FILE_NAME, "r");
    if (file == NULL || !next_row(file, &r)) /* its header */
        SKIP("../shared/data/ane-numerics is not there");
    while (next_row(file, &r)) {
        tally own = {0};
        replay_row(&r, NULL, true, &own);
        check_note(own.apart == 0, __FILE__, __LINE__, "%s of %s: %d estimates by roof are not ours", r.field[0],
                   r.field[1], own.apart);
        all.rows += own.rows, all.by_roof += own.by_roof, all.by_tree += own.by_tree;
        all.near_tree += own.near_tree, all.apart += own.apart;
    }
    fclose(file);
    printf("%d rows: %d of %d estimates by roof are equal; of %d by tree %d are within a tenth\n", all.rows,
           all.by_roof - all.apart, all.by_roof, all.by_tree, all.near_tree);
    CHECK(all.rows >= 29 && all.by_roof >= 30 && all.by_tree >= 30);
}

/* Else the tolerance would take anything: by the roofs of H19 most figures of the others are apart. */
static void test_other_roofs_are_apart(void)
{
    row r;
    tally all = {0};
    FILE *file = fopen(FILE_NAME, "r");
    if (file == NULL || !next_row(file, &r))
        SKIP("../shared/data/ane-numerics is not there");
    while (next_row(file, &r))
        if (strstr(r.field[2], "H19") == NULL && r.field[6][0] == 'n')
            replay_row(&r, "H19", false, &all);
    fclose(file);
    CHECK(all.by_roof > 20 && all.apart == all.by_roof);
}

/* ---- cases of our own ---- */

static double estimate_of(const char *inputs, const char *body, const char *platform, mw__roof_backend backend)
{
    char text[TEXT_MAX];
    mw_error err = {0};
    snprintf(text, sizeof text, "program(1.3)\n{func main<ios18>(%s) {%s} -> (y);}", inputs, body);
    mw_graph *graph = mw_graph_parse_mil(text, strlen(text), NULL, NULL, &err);
    CHECK_OK(err);
    const double us =
        graph != NULL ? mw__roof_estimate(mw__roof_platform_named(platform), backend, op_of(graph)).us : -1.0;
    mw_graph_destroy(graph);
    return us;
}

#define LARGE "tensor<fp16, [1024, 1024]>"

/* 2 * 1024^3 flops: 2 * 1024^3 / 754.54e9 s on the CPU, where compute binds, 6 MiB / (68 GiB/s) on the ANE, where it
 * is 110.7 us of compute and 86.2 us of bytes. */
static void test_the_larger_of_two_roofs_is_the_estimate(void)
{
    const char *inputs = LARGE " x, " LARGE " z";
    const char *body = LARGE " y = matmul(transpose_x = bool(false), transpose_y = bool(false), x = x, y = z);";
    const double flops = 2.0 * 1024 * 1024 * 1024;
    CHECK_NEAR(estimate_of(inputs, body, "H16G", MW__ROOF_ANE), flops / 19400e3, 1e-6);
    CHECK_NEAR(estimate_of(inputs, body, "H16G", MW__ROOF_BNNS), flops / 754.54e3, 1e-3);
    CHECK_NEAR(estimate_of(inputs, body, "h13g", MW__ROOF_CLASSIC_CPU), flops / 634e3, 1e-3);
    CHECK_NEAR(estimate_of(LARGE " x", LARGE " y = exp(x = x);", "H19", MW__ROOF_ANE),
               4.0 * 1024 * 1024 / (58.0 * 1073.741824), 1e-6);
}

static void test_relu_has_one_rate_everywhere(void)
{
    for (unsigned b = 0; b < MW__ROOF_BACKENDS; b++)
        CHECK_NEAR(estimate_of(LARGE " x", LARGE " y = relu(x = x);", "H19", (mw__roof_backend)b),
                   4.0 * 1024 * 1024 / 100e3, 1e-9);
}

static void test_platforms_have_names(void)
{
    CHECK(mw__roof_platform_named("H11") == NULL && mw__roof_platform_named("") == NULL);
    CHECK_STR(mw__roof_platform_of(MW_CHIP_H18G)->name, "H18G");
    CHECK_STR(mw__roof_platform_of(MW_CHIP_AUTO)->name, "H13G");
    CHECK_STR(mw__roof_platform_of(MW_CHIP_H17)->borrowed, "H16G");
}

int main(void)
{
    RUN(test_every_row_is_replayed);
    RUN(test_other_roofs_are_apart);
    RUN(test_the_larger_of_two_roofs_is_the_estimate);
    RUN(test_relu_has_one_rate_everywhere);
    RUN(test_platforms_have_names);
    return check_finish();
}
