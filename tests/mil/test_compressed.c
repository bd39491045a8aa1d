/* Compressed constants in text: both forms come back as they stand, numbers of less than a byte in text and weight
 * file, and what hostile texts claim. */
#include "base/file/file.h"
#include "graph/constants/compressed.h"
#include "mil/weights/blob.h"
#include "support/check.h"
#include "support/failing.h"

#include <millwright/millwright.h>
#include <stdlib.h>

#define PROGRAM(version, opset, body, result)                                                                          \
    "program(" version                                                                                                 \
    ")\n[buildInfo = dict<string, string>({{\"coremlc-version\", \"1\"}})]\n{\n    func main<" opset                   \
    ">(tensor<fp32, [4]> x) {\n" body "        } -> (" result ");\n}"
#define LINE(text) "            " text "\n"

static mw_graph *parse(const char *text, mw_error *err)
{
    mw_graph *graph = mw_graph_parse_mil(text, strlen(text), NULL, NULL, err);
    mw_graph_verify(graph, err);
    return graph;
}

/* ---- the text comes back ---- */

static const char *const texts[] = {
    PROGRAM("1.3", "ios17",
            LINE("tensor<fp32, [4]> c = constexpr_affine_dequantize()[axis = int32(0), quantized_data = tensor<int8, "
                 "[4]>([1, -2, 3, -128]), scale = fp32(0x1p-1), zero_point = int8(-1)];")
                LINE("tensor<fp32, [4]> y = add(x = x, y = c);"),
            "y"),
    PROGRAM(
        "1.3", "ios17",
        LINE("tensor<fp32, [4]> c = constexpr_lut_to_dense()[indices = tensor<uint8, [1]>([228]), lut = tensor<fp32, "
             "[4]>([0x1p+0, 0x1p+1, 0x1p+2, 0x1p+3]), name = string(\"c\"), shape = tensor<uint32, [1]>([4])];"),
        "c"),
    PROGRAM(
        "1.3", "ios16",
        LINE("tensor<fp32, [4]> c = constexpr_sparse_to_dense()[mask = tensor<uint8, [1]>([5]), name = string(\"c\"), "
             "nonzero_data = tensor<fp32, [2]>([0x1p+0, 0x1p+1]), shape = tensor<uint32, [1]>([4])];"),
        "c"),
    PROGRAM("1.3", "ios16",
            LINE("tensor<fp32, [2]> c = constexpr_cast()[name = string(\"c\"), output_dtype = string(\"fp32\"), "
                 "source_val = tensor<fp16, [2]>([0x1p+0, -0x1p-24])];"),
            "c"),
    PROGRAM(
        "1.3", "ios18",
        LINE("tensor<fp32, [4]> c = constexpr_blockwise_shift_scale(data = tensor<int4, [4]>([-8, 7, 0, -1]), offset = "
             "tensor<int4, [2]>([1, -1]), scale = tensor<fp32, [2]>([0x1p+0, 0x1p-1]))[name = string(\"c\")];"),
        "c"),
    PROGRAM(
        "1.3", "ios18",
        LINE("tensor<uint1, [4]> m, tensor<int8, [2]> v = constexpr_lut_to_sparse(indices_mask = tensor<uint1, "
             "[4]>([0, 1, 0, 1]), indices_nonzero_data = tensor<uint1, [2]>([1, 0]), lut = tensor<int8, [1, 2, "
             "1]>([[[5], [-6]]]))[name = string(\"pair\")];")
            LINE("tensor<int8, [4]> d = constexpr_sparse_to_dense(mask = m, nonzero_data = v)[name = string(\"d\")];")
                LINE("tensor<fp32, [4]> c = constexpr_blockwise_shift_scale(data = d, scale = tensor<fp32, "
                     "[1]>([0x1p-1]))[name = string(\"c\")];"),
        "c"),
    PROGRAM(
        "1.3", "ios18",
        LINE("tensor<uint1, [4]> m, tensor<fp32, [3]> v = constexpr_sparse_blockwise_shift_scale(data_mask = "
             "tensor<uint1, [4]>([1, 1, 0, 1]), nonzero_data = tensor<uint4, [3]>([15, 1, 0]), scale = tensor<fp32, "
             "[4]>([0x1p+0, 0x1p+1, 0x1p+2, 0x1p+3]))[name = string(\"s\")];")
            LINE("tensor<fp32, [4]> c = constexpr_sparse_to_dense(mask = m, nonzero_data = v)[name = string(\"c\")];"),
        "c"),
    PROGRAM(
        "1.3", "ios18",
        LINE("tensor<fp32, [9]> c = constexpr_lut_to_dense(indices = tensor<uint3, [9]>([7, 6, 5, 4, 3, 2, 1, 0, 7]), "
             "lut = tensor<fp32, [1, 8, 1]>([[[0x0p+0], [0x1p+0], [0x1p+1], [0x1.8p+1], [0x1p+2], [0x1.4p+2], "
             "[0x1.8p+2], [0x1.cp+2]]]))[name = string(\"c\")];"),
        "c"),
};

static const float values[][9] = {{0},
                                  {1, 2, 4, 8},
                                  {1, 0, 2, 0},
                                  {1, -0x1p-24f},
                                  {-9, 6, 0.5f, 0},
                                  {0, -3, 0, 2.5f},
                                  {15, 2, 0, 0},
                                  {7, 6, 5, 4, 3, 2, 1, 0, 7}};

static void test_texts_come_back_as_they_stand(void)
{
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        mw_error err = {0};
        mw_graph *graph = parse(texts[i], &err);
        char *again = mw_graph_print_mil(graph, NULL, &err);
        check_note(again != NULL && strcmp(again, texts[i]) == 0, __FILE__, __LINE__, "%s\nfrom\n%s\n%s",
                   again != NULL ? again : "", texts[i], err.message);
        mw_string_free(again);
        mw_graph_destroy(graph);
    }
}

static void test_constants_hold_what_the_formulas_say(void)
{
    for (size_t i = 1; i < sizeof texts / sizeof *texts; i++) {
        mw_error err = {0};
        mw_graph *graph = parse(texts[i], &err);
        const mw_tensor *c = mw_graph_find(graph, "c");
        const mw__payload *payload = c != NULL ? mw__constant_payload(c, &err) : NULL;
        CHECK_OK(err);
        for (size_t k = 0; payload != NULL && k < mw__payload_count(payload); k++)
            check_note(mw__payload_float(payload, k) == (double)values[i][k], __FILE__, __LINE__,
                       "%zu: [%zu] is %g, not %g", i, k, mw__payload_float(payload, k), (double)values[i][k]);
        CHECK(payload != NULL);
        mw_graph_destroy(graph);
    }
}

/* ---- refused ---- */

#define LUT(indices, lut)                                                                                              \
    "tensor<fp16, [4]> c = constexpr_lut_to_dense(indices = tensor<uint2, " indices ">(1), lut = tensor<fp16, " lut    \
    ">(0));"
#define BLOCKS(scale)                                                                                                  \
    "tensor<fp16, [4, 6]> c = constexpr_blockwise_shift_scale(data = tensor<int8, [4, 6]>(1), scale = "                \
    "tensor<fp16, " scale ">(1));"
#define PACKED(indices, lut, shape)                                                                                    \
    "tensor<fp16, [4]> c = constexpr_lut_to_dense()[indices = tensor<uint8, " indices ">(1), lut = tensor<fp16, " lut  \
    ">(0), shape = tensor<uint32, [1]>(" shape ")];"
#define AFFINE(axis, scale)                                                                                            \
    "tensor<fp16, [4, 6]> c = constexpr_affine_dequantize()[axis = int32(" axis                                        \
    "), quantized_data = tensor<int8, [4, "                                                                            \
    "6]>(1), scale = " scale ", zero_point = int8(0)];"

static const struct {
    const char *opset, *statement, *message;
} refused[] = {
    {"ios18", LUT("[4]", "[1, 3, 1]"), "lut has 3 entries, indices of 2 bits need 4"},
    {"ios18", LUT("[4]", "[3, 4, 1]"), "lut has 3 blocks on axis 0, which do not divide the extent 4"},
    {"ios18", LUT("[4]", "[4, 1]"), "lut [4, 1] must have 2 axes more than indices [4]"},
    {"ios18", LUT("[2]", "[1, 4, 2]"), "vectors of 2 elements need vector_axis"},
    {"ios18", LUT("[4]", "[0, 4, 1]"), "lut has 0 blocks"},
    {"ios18", BLOCKS("[3, 1]"), "scale has 3 blocks on axis 0, which do not divide the extent 4 of data"},
    {"ios18", BLOCKS("[4]"), "scale [4] must have the rank of data [4, 6]"},
    {"ios18", BLOCKS("[0, 1]"), "scale has 0 blocks"},
    {"ios17", PACKED("[1]", "[8]", "4"), "lut has 8 entries, not 2, 4, 16, 64 or 256"},
    {"ios17", PACKED("[2]", "[4]", "4"), "indices has 2 bytes; 4 elements of 2 bits take 1"},
    {"ios17", PACKED("[1]", "[4]", "4294967295"), "indices has 1 bytes; 4294967295 elements of 2 bits take 1073741824"},
    {"ios17", AFFINE("2", "fp16(1)"), "axis 2 is outside [-2, 2)"},
    {"ios17", AFFINE("-3", "fp16(1)"), "axis -3 is outside [-2, 2)"},
    {"ios17", AFFINE("-1", "tensor<fp16, [4]>(1)"), "scale must be a scalar or have the 6 elements of axis 1, not [4]"},
    {"ios17", AFFINE("0", "int32(1)"), "scale is int32, not fp16 or fp32"},
    {"ios17",
     "tensor<fp16, [4]> c = constexpr_affine_dequantize()[axis = int32(0), scale = fp16(1), zero_point = int8(0)];",
     "argument \"quantized_data\" is missing"},
    {"ios18",
     "tensor<fp16, [4]> c = constexpr_sparse_to_dense(mask = tensor<uint1, [4]>([1, 0, 1, 0]), nonzero_data = "
     "tensor<fp16, "
     "[3]>(1));",
     "nonzero_data has 3 elements for 2 set bits of mask"},
    {"ios18",
     "tensor<fp16, [8]> c = constexpr_sparse_to_dense(mask = tensor<uint1, [8]>(1), nonzero_data = tensor<fp16, "
     "[3]>(1));",
     "nonzero_data has 3 elements for 8 set bits of mask"},
    {"ios18",
     "tensor<uint8, [4]> c = constexpr_cast(output_dtype = string(\"uint8\"), source_val = tensor<fp16, [4]>(1));",
     "output_dtype \"uint8\" is not fp32"},
    {"ios16", BLOCKS("[4, 6]"), "constexpr_blockwise_shift_scale"},
};

static void test_what_breaks_a_rule_is_refused_with_its_number(void)
{
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        char text[1024];
        mw_error err = {0};
        snprintf(text, sizeof text, "program(1.3)\n{\n    func main<%s>(fp16 x) {\n%s\n} -> (c);\n}", refused[i].opset,
                 refused[i].statement);
        mw_graph *graph = parse(text, &err);
        check_note(err.status != MW_OK && strstr(err.message, refused[i].message) != NULL && err.text_line == 4,
                   __FILE__, __LINE__, "%s: %d at line %d, \"%s\"", refused[i].statement, (int)err.status,
                   err.text_line, err.message);
        mw_graph_destroy(graph);
    }
}

static void test_a_small_literal_does_not_claim_a_large_constant(void)
{
    static const char *const claims[] = {
        "tensor<fp32, [1000000, 1000000]> c = constexpr_blockwise_shift_scale(data = tensor<int8, [1000000, "
        "1000000]>(1), scale = tensor<fp32, [1, 1]>(1));",
        "tensor<fp32, [1000000000000]> c = constexpr_lut_to_dense(indices = tensor<uint1, [1000000000000]>(0), lut = "
        "tensor<fp32, [1, 2, 1]>(0));",
        "tensor<fp32, [1000000000000]> c = constexpr_lut_to_dense(indices = tensor<uint1, [1]>(0), lut = tensor<fp32, "
        "[1, "
        "2, 1000000000000]>(0), vector_axis = int32(0));",
        "tensor<fp32, [1000000000000]> c = constexpr_sparse_to_dense(mask = tensor<uint1, [1000000000000]>(0), "
        "nonzero_data = tensor<fp32, [0]>([]));",
    };
    for (size_t i = 0; i < sizeof claims / sizeof *claims; i++) {
        char text[1024];
        mw_error err = {0}, reason = {0};
        snprintf(text, sizeof text, "program(1.3)\n{\n    func main<ios18>(fp16 x) {\n%s\n} -> (c);\n}", claims[i]);
        mw_graph *graph = parse(text, &err);
        CHECK_OK(err);
        CHECK(mw__constant_payload(mw_graph_find(graph, "c"), &reason) == NULL);
        check_note(reason.status == MW_ERROR_UNSUPPORTED && strstr(reason.message, "bytes are claimed of") != NULL,
                   __FILE__, __LINE__, "%d, \"%s\"", (int)reason.status, reason.message);
        mw_graph_destroy(graph);
    }
}

/* Each of the constants is made of the one before. */
static void test_constants_of_constants_end_somewhere(void)
{
    enum { LINKS = 40000, ROOM = 160 };
    mw_error err = {0}, reason = {0};
    char *text = malloc((LINKS + 4) * (size_t)ROOM);
    size_t used = (size_t)sprintf(text, "program(1.3)\n{\n    func main<ios18>(fp16 x) {\nfp16 z = const()[val = "
                                        "fp16(1)];\ntensor<fp16, [1]> c0 = const()[val = tensor<fp16, [1]>([1])];\n");
    for (int i = 1; i <= LINKS; i++)
        used +=
            (size_t)sprintf(text + used,
                            "tensor<fp16, [1]> c%d = constexpr_blockwise_shift_scale(data = c%d, scale = tensor<fp16, "
                            "[1]>([1]));\n",
                            i, i - 1);
    sprintf(text + used, "} -> (c%d);\n}", LINKS);
    mw_graph *graph = mw_graph_parse_mil(text, strlen(text), NULL, NULL, &err);
    char last[16];
    snprintf(last, sizeof last, "c%d", LINKS);
    CHECK_OK(err);
    CHECK(mw__constant_payload(mw_graph_find(graph, last), &reason) == NULL);
    check_note(strstr(reason.message, "compressed more than 16 times") != NULL, __FILE__, __LINE__, "%s",
               reason.message);
    mw_graph_destroy(graph);
    free(text);
}

/* ---- files ---- */

static void in_folder(void (*check)(const char *folder))
{
    mw_error err = {0};
    char *folder = NULL, path[1024];
    mw__file_make_private_folder(NULL, 0, &folder, &err);
    CHECK_OK(err);
    if (folder == NULL)
        return;
    check(folder);
    snprintf(path, sizeof path, "%s/weights", folder);
    mw__file_remove_folder(path);
    mw__file_remove_folder(folder);
    mw__free(NULL, folder);
}

/* Every width that a weight file knows, of a count that leaves bits unused. */
static void check_widths(const char *folder)
{
    static const mw_dtype widths[] = {MW_U1, MW_U2, MW_U3, MW_U4, MW_I4, MW_U6, MW_U8};
    enum { COUNT = 37, WIDTHS = sizeof widths / sizeof *widths };
    unsigned char data[WIDTHS][COUNT];
    char path[1024];
    mw_error err = {0};
    mw_graph *graph = mw_graph_create(NULL, NULL);
    for (int w = 0; w < WIDTHS; w++) {
        for (int i = 0; i < COUNT; i++)
            data[w][i] = (unsigned char)(i * 37 + w);
        const int bits = COUNT * mw_dtype_bits(widths[w]);
        if (bits % 8 != 0)
            data[w][bits / 8] = (unsigned char)(data[w][bits / 8] & ((1 << (bits % 8)) - 1));
        char name[8];
        snprintf(name, sizeof name, "c%d", w);
        mw_output(mw_constant(graph, widths[w], MW_SHAPE(COUNT), data[w]), name);
    }
    mw_graph_write(graph, folder, NULL, &err);
    mw_graph_destroy(graph);
    snprintf(path, sizeof path, "%s/model.mil", folder);
    graph = mw_graph_open_mil(path, NULL, &err);
    CHECK_OK(err);
    for (int w = 0; graph != NULL && w < WIDTHS; w++) {
        char name[8];
        snprintf(name, sizeof name, "c%d", w);
        const mw_tensor *c = mw_graph_find(graph, name);
        if (c != NULL && c->payload == NULL) /* an output is a form of its own */
            c = mw__arg(c->op, "x");
        const size_t size = (size_t)(COUNT * mw_dtype_bits(widths[w]) + 7) / 8;
        check_note(c != NULL && c->payload != NULL && c->payload->blob_path != NULL && c->payload->size == size &&
                       memcmp(c->payload->data, data[w], size) == 0,
                   __FILE__, __LINE__, "%s", mw_dtype_name(widths[w]));
    }
    mw_graph_destroy(graph);
}

static void test_every_width_goes_through_the_weight_file(void) { in_folder(check_widths); }

/* ---- memory ---- */

static void test_expanding_survives_failing_allocations(void)
{
    for (long n = 0;; n++) {
        failing_allocator failing = {.fail_at = n};
        mw_allocator allocator = failing_allocator_of(&failing);
        mw_graph_options options = mw_graph_defaults();
        options.allocator = &allocator;
        mw_error err = {0};
        mw_graph *graph = mw_graph_parse_mil(texts[5], strlen(texts[5]), NULL, &options, &err);
        mw_graph_verify(graph, &err);
        const mw_tensor *c = err.status == MW_OK ? mw_graph_find(graph, "c") : NULL;
        const bool expanded = c != NULL && mw__constant_payload(c, &err) != NULL;
        check_note(expanded || failing.failed, __FILE__, __LINE__, "allocation %ld: %s", n, err.message);
        mw_graph_destroy(graph);
        CHECK_INT(failing.live, 0);
        if (!failing.failed)
            break;
        check_note(expanded || err.status == MW_ERROR_MEMORY, __FILE__, __LINE__, "allocation %ld: %s", n, err.message);
    }
}

int main(void)
{
    RUN(test_texts_come_back_as_they_stand);
    RUN(test_constants_hold_what_the_formulas_say);
    RUN(test_what_breaks_a_rule_is_refused_with_its_number);
    RUN(test_a_small_literal_does_not_claim_a_large_constant);
    RUN(test_constants_of_constants_end_somewhere);
    RUN(test_every_width_goes_through_the_weight_file);
    RUN(test_expanding_survives_failing_allocations);
    return check_finish();
}
