/* E5 descriptors: what is published of them holds of ours, FlatBuffers' own compiler reads and writes the same, and no
 * bytes do harm. */
#include "support/check.h"
#include "support/failing.h"
#include "support/metered.h"

#include <millwright/chip_all.h>
#include <millwright/millwright.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BYTES_MAX = 1 << 16 };

/* ---- graphs ---- */

static mw_graph *chain(int depth, int64_t width)
{
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_tensor *x = mw_input(graph, "x", MW_F16, MW_SHAPE(1, 1, 4, width));
    mw_tensor *y = mw_relu(x);
    for (int i = 1; i < depth; i++)
        y = i % 2 ? mw_tanh(y) : mw_relu(y);
    mw_output(y, "y");
    return graph;
}

static mw_graph *contraction(int64_t inner)
{
    static const uint16_t weights[512 * 8];
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_tensor *x = mw_input(graph, "x", MW_F16, MW_SHAPE(4, inner));
    mw_output(mw_matmul(x, mw_constant(graph, MW_F16, MW_SHAPE(inner, 8), weights), 0), "y");
    return graph;
}

/* One input, five states that the step replaces, one result. */
static mw_graph *recurrent(void)
{
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_tensor *y = mw_input(graph, "x", MW_F16, MW_SHAPE(1, 8));
    for (int i = 0; i < 5; i++) {
        char name[8];
        snprintf(name, sizeof name, "h%d", i);
        mw_tensor *state = mw_state(graph, name, MW_F16, MW_SHAPE(1, 8), mw_init_zeros());
        y = mw_tanh(mw_add(y, state));
        mw_state_assign(state, y);
    }
    mw_output(mw_relu(y), "y");
    return graph;
}

static mw_graph *bridged(void)
{
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_tensor *x = mw_input(graph, "x", MW_F16, MW_SHAPE(1, 2, 4, 8));
    mw_tensor *h = mw_relu(x), *results[1];
    const mw_argument arguments[] = {{"query", &h, 1}, {"key", &h, 1}, {"value", &h, 1}};
    mw_error err = {0};
    mw_op(graph, "scaled_dot_product_attention", arguments, 3, results, 1, &err);
    CHECK_OK(err);
    mw_output(mw_add(mw_tanh(results[0]), h), "y");
    return graph;
}

static mw_e5 *make(mw_graph *graph)
{
    mw_error err = {0};
    mw_e5 *e5 = mw_e5_create(graph, NULL, &err);
    CHECK_OK(err);
    mw_graph_destroy(graph);
    return e5;
}

static size_t bytes_of(mw_e5 *e5, char *out)
{
    size_t size = 0;
    mw_error err = {0};
    char *bytes = mw_e5_bytes(e5, &size, &err);
    CHECK_OK(err);
    if (!CHECK(bytes != NULL && size <= BYTES_MAX))
        size = 0;
    if (out != NULL)
        memcpy(out, bytes, size);
    mw_string_free(bytes);
    return size;
}

static size_t size_of_graph(mw_graph *graph)
{
    mw_e5 *e5 = make(graph);
    const size_t size = bytes_of(e5, NULL);
    mw_e5_destroy(e5);
    return size;
}

/* "cia": the kinds of the operations, a letter each. */
static void kinds_of(mw_e5 *e5, char *out)
{
    const mw_e5_program *program = mw_e5_program_of(e5);
    for (size_t i = 0; i < program->operation_count; i++)
        *out++ = "CAEecmgMQDBJ"[program->operations[i].kind];
    *out = '\0';
}

/* ---- what is published ---- */

static void test_first_bytes_are_the_published_ones(void)
{
    static const unsigned char published[24] = {0x14, 0, 0, 0, 0,    0, 0,    0, 0x0c, 0, 0x14, 0,
                                                4,    0, 8, 0, 0x0c, 0, 0x10, 0, 0x0c, 0, 0,    0};
    static char bytes[BYTES_MAX];
    mw_e5 *e5 = make(chain(1, 8));
    REQUIRE(bytes_of(e5, bytes) > 24);
    CHECK(memcmp(bytes, published, 24) == 0);
    mw_e5_destroy(e5);
}

static void test_enumerations_are_closed(void)
{
    CHECK_STR(mw_e5_kind_name(0), "Cast");
    CHECK_STR(mw_e5_kind_name(1), "AneInference");
    CHECK_STR(mw_e5_kind_name(11), "JitCall");
    CHECK(mw_e5_kind_name(12) == NULL && mw_e5_kind_name(-1) == NULL);
    CHECK_STR(mw_e5_element_name(0), "int4");
    CHECK_STR(mw_e5_element_name(3), "float16");
    CHECK_STR(mw_e5_element_name(10), "uint64");
    CHECK(mw_e5_element_name(11) == NULL && mw_e5_element_name(-1) == NULL);
}

static void test_size_does_not_grow_with_depth_or_shape(void)
{
    CHECK_INT(size_of_graph(chain(6, 8)), size_of_graph(chain(1, 8)));
    CHECK_INT(size_of_graph(chain(1, 4096)), size_of_graph(chain(1, 8)));
    CHECK_INT(size_of_graph(contraction(256)), size_of_graph(contraction(64)));
}

static void test_fused_graph_is_cast_inference_cast(void)
{
    char kinds[64];
    mw_e5 *e5 = make(chain(6, 8));
    REQUIRE(e5 != NULL);
    kinds_of(e5, kinds);
    CHECK_STR(kinds, "CAC");
    CHECK_STR(mw_e5_program_of(e5)->operations[0].name, "Op0_Cast");
    CHECK_STR(mw_e5_program_of(e5)->operations[1].name, "Op1_AneInference");
    CHECK_STR(mw_e5_program_of(e5)->operations[2].name, "Op2_Cast");
    CHECK_INT(mw_e5_program_of(e5)->format_version, 4);
    mw_e5_destroy(e5);
}

static void test_bridge_makes_three_inferences(void)
{
    char kinds[64];
    mw_e5 *e5 = make(bridged());
    REQUIRE(e5 != NULL);
    kinds_of(e5, kinds);
    CHECK_STR(kinds, "CAAAC");
    const mw_e5_operation *last = &mw_e5_program_of(e5)->operations[3];
    CHECK_INT(last->segment, 2);
    CHECK_STR(last->procedure, "main_ane_2");
    CHECK_INT(last->operand_count, 3); /* the attention, what went into it, and the result */
    CHECK(last->operands[2].is_output && !last->operands[0].is_output);
    CHECK(bytes_of(e5, NULL) > size_of_graph(chain(6, 8)));
    mw_e5_destroy(e5);
}

static void test_bridges_are_the_callers_choice(void)
{
    static const char *const none[] = {"tanh"};
    char kinds[64];
    mw_error err = {0};
    mw_e5_options options = mw_e5_defaults();
    options.bridges = none;
    options.bridge_count = 1;
    mw_graph *graph = bridged();
    mw_e5 *e5 = mw_e5_create(graph, &options, &err);
    CHECK_OK(err);
    kinds_of(e5, kinds);
    CHECK_STR(kinds, "CAAAC"); /* before, tanh, after: the attention is in the first */
    CHECK_INT(mw_e5_program_of(e5)->operations[2].operand_count, 2);
    mw_e5_destroy(e5);
    options.bridge_count = 0;
    e5 = mw_e5_create(graph, &options, &err);
    kinds_of(e5, kinds);
    CHECK_STR(kinds, "CAC");
    mw_e5_destroy(e5);
    mw_graph_destroy(graph);
}

static void test_five_states_give_six_casts_one_inference_six_casts(void)
{
    char kinds[64];
    mw_e5 *e5 = make(recurrent());
    REQUIRE(e5 != NULL);
    kinds_of(e5, kinds);
    CHECK_STR(kinds, "CCCCCCACCCCCC");
    CHECK_INT(mw_e5_program_of(e5)->operations[6].operand_count, 12);
    CHECK_INT(mw_e5_program_of(e5)->port_count, 12);
    CHECK_INT(mw_e5_program_of(e5)->alias_count, 5);
    CHECK_STR(mw_e5_program_of(e5)->aliases[4].name, "h4_next");
    CHECK_STR(mw_e5_program_of(e5)->aliases[4].symbol, "h4");
    mw_e5_destroy(e5);
}

/* tinygrad's containers: 8 channels of 16 rows have strides 8192, 1024, 64, 2. */
static void test_layout_of_the_engine_is_that_of_containers(void)
{
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_output(mw_relu(mw_input(graph, "x", MW_F32, MW_SHAPE(1, 8, 16, 16))), "y");
    mw_e5 *e5 = make(graph);
    REQUIRE(e5 != NULL);
    const mw_e5_operation *cast = &mw_e5_program_of(e5)->operations[0];
    const mw_e5_layout *host = &cast->operands[0].layout, *engine = &cast->operands[1].layout;
    CHECK_INT(host->storage_type, MW_E5_FLOAT32);
    CHECK_INT(host->stride_height, 64);
    CHECK_INT(host->stride_batch_number, 4 * 8 * 16 * 16);
    CHECK_INT(engine->storage_type, MW_E5_FLOAT16);
    CHECK_INT(engine->stride_width, 2);
    CHECK_INT(engine->stride_height, 64);
    CHECK_INT(engine->stride_channels, 1024);
    CHECK_INT(engine->stride_batch_number, 8192);
    CHECK_INT(engine->dim[2], 8);
    CHECK(cast->from == MW_E5_FLOAT32 && cast->to == MW_E5_FLOAT16);
    mw_e5_destroy(e5);
}

/* ---- both ways ---- */

static void check_again(mw_graph *graph)
{
    static char first[BYTES_MAX], second[BYTES_MAX];
    mw_error err = {0};
    mw_e5 *made = make(graph);
    const size_t size = bytes_of(made, first);
    mw_e5 *read = mw_e5_parse(first, size, NULL, &err);
    CHECK_OK(err);
    REQUIRE(read != NULL);
    CHECK_INT(mw_e5_program_of(read)->note_count, 0);
    CHECK_INT(bytes_of(read, second), size);
    CHECK(memcmp(first, second, size) == 0);
    mw_e5_destroy(made);
    mw_e5_destroy(read);
}

static void test_write_read_write_gives_equal_bytes(void)
{
    check_again(chain(3, 8));
    check_again(recurrent());
    check_again(bridged());
}

static void test_files_are_written_and_read(void)
{
    char path[] = "/tmp/mw-e5-XXXXXX";
    mw_error err = {0};
    const int descriptor = mkstemp(path);
    REQUIRE(descriptor >= 0);
    close(descriptor);
    mw_e5 *made = make(recurrent());
    CHECK_INT(mw_e5_write(made, path, &err), MW_OK);
    mw_e5 *read = mw_e5_open(path, NULL, &err);
    CHECK_OK(err);
    char *a = mw_e5_text(made, &err), *b = mw_e5_text(read, &err);
    REQUIRE(a != NULL && b != NULL);
    CHECK_STR(b, a);
    CHECK_CONTAINS(a, "Op6_AneInference (AneInference) segment 0: main_ane of model.hwx");
    mw_string_free(a);
    mw_string_free(b);
    mw_e5_destroy(made);
    mw_e5_destroy(read);
    unlink(path);
}

/* Field by field: what stands behind the last one is nobody's. */
static void check_layout(const mw_e5_layout *a, const mw_e5_layout *b)
{
    CHECK(memcmp(a, b, offsetof(mw_e5_layout, storage_type)) == 0);
    CHECK_INT(a->storage_type, b->storage_type);
}

static void test_flatc_wrote_the_same(void)
{
    mw_error err = {0};
    mw_e5 *theirs = mw_e5_open(MW_TESTS_DIR "/data/e5/relu.e5", NULL, &err);
    CHECK_OK(err);
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_output(mw_relu(mw_input(graph, "x", MW_F32, MW_SHAPE(1, 2, 3, 5))), "y");
    mw_e5 *ours = make(graph);
    REQUIRE(theirs != NULL && ours != NULL);
    const mw_e5_program *a = mw_e5_program_of(theirs), *b = mw_e5_program_of(ours);
    CHECK_INT(a->note_count, 0);
    CHECK_INT(a->operation_count, b->operation_count);
    for (size_t i = 0; i < a->operation_count && i < b->operation_count; i++) {
        CHECK_STR(a->operations[i].name, b->operations[i].name);
        CHECK_INT(a->operations[i].kind, b->operations[i].kind);
        CHECK(a->operations[i].from == b->operations[i].from && a->operations[i].to == b->operations[i].to);
        REQUIRE(a->operations[i].operand_count == b->operations[i].operand_count);
        for (size_t k = 0; k < a->operations[i].operand_count; k++) {
            CHECK_STR(a->operations[i].operands[k].symbol, b->operations[i].operands[k].symbol);
            check_layout(&a->operations[i].operands[k].layout, &b->operations[i].operands[k].layout);
        }
    }
    CHECK_STR(a->build_info[0].value, "flatc");
    mw_e5_destroy(theirs);
    mw_e5_destroy(ours);
}

static void test_json_has_every_part(void)
{
    mw_error err = {0};
    mw_e5 *e5 = make(chain(1, 8));
    char *json = mw_e5_json(e5, &err);
    REQUIRE(json != NULL);
    CHECK_CONTAINS(json, "{\"format_version\": 4,\n\"function\": \"main\"");
    CHECK_CONTAINS(json, "\"kind\": \"AneInference\", \"segment\": 0, \"procedure\": \"main_ane\"");
    CHECK_CONTAINS(json, "\"dim\": [8, 4, 1, 1], \"stride\": [2, 64, 256, 256]");
    CHECK_CONTAINS(json, "\"notes\": []}");
    mw_string_free(json);
    mw_e5_destroy(e5);
}

/* ---- hostile bytes ---- */

/* Reads bytes, and says whether all was understood: an error with a message, or an object that can be shown; never more
 * memory than the header says. */
static bool read_bytes(const char *bytes, size_t size)
{
    metered_bytes count = {0};
    const mw_allocator allocator = metered_allocator(&count);
    mw_error err = {0}, more = {0};
    char *exact = malloc(size > 0 ? size : 1); /* a read past the end is seen by sanitizers */
    memcpy(exact, bytes, size);
    mw_e5 *e5 = mw_e5_parse(exact, size, &allocator, &err);
    free(exact);
    CHECK((e5 == NULL) == (err.status != MW_OK) && (e5 != NULL || err.message[0] != '\0'));
    CHECK(count.most <= 64 * size + 65536);
    if (e5 != NULL) {
        mw_string_free(mw_e5_text(e5, &more));
        mw_string_free(mw_e5_json(e5, &more));
        CHECK_OK(more);
    }
    const bool whole = e5 != NULL && mw_e5_program_of(e5)->note_count == 0;
    mw_e5_destroy(e5);
    CHECK_INT(count.now, 0);
    return whole;
}

/* Within the bytes of a section a cut is only noted: in a file of another form that place may be no size at all. */
static void test_no_cut_passes_for_whole(void)
{
    static char bytes[BYTES_MAX];
    mw_e5 *e5 = make(recurrent());
    const size_t size = bytes_of(e5, bytes);
    size_t whole = 0;
    for (size_t i = 0; i < size; i++)
        whole += read_bytes(bytes, i);
    CHECK_INT(whole, 0);
    mw_e5_destroy(e5);
}

static void test_changed_bytes_do_no_harm(void)
{
    static char bytes[BYTES_MAX];
    static const unsigned char values[] = {0x00, 0x01, 0x7f, 0x80, 0xff};
    mw_e5 *e5 = make(bridged());
    const size_t size = bytes_of(e5, bytes);
    for (size_t i = 0; i < size; i++) {
        const char before = bytes[i];
        for (size_t k = 0; k < sizeof values; k++) {
            bytes[i] = (char)values[k];
            read_bytes(bytes, size);
        }
        bytes[i] = before;
    }
    mw_e5_destroy(e5);
}

static void put32(char *bytes, size_t at, uint32_t value)
{
    for (int i = 0; i < 4; i++)
        bytes[at + (size_t)i] = (char)(value >> 8 * i);
}

static uint32_t get32(const char *bytes, size_t at)
{
    uint32_t value = 0;
    for (int i = 4; i-- > 0;)
        value = value << 8 | (unsigned char)bytes[at + (size_t)i];
    return value;
}

/* With one word changed: refused, and why. */
static void check_word(const char *original, size_t size, size_t at, uint32_t value, const char *why)
{
    static char bytes[BYTES_MAX];
    mw_error err = {0};
    memcpy(bytes, original, size);
    put32(bytes, at, value);
    mw_e5 *e5 = mw_e5_parse(bytes, size, NULL, &err);
    CHECK(e5 == NULL);
    CHECK_ERROR(err, MW_ERROR_FORMAT, why);
    mw_e5_destroy(e5);
}

static void test_bad_offsets_are_refused_by_name(void)
{
    static char bytes[BYTES_MAX];
    mw_e5 *e5 = make(chain(1, 8));
    const size_t size = bytes_of(e5, bytes), sections = 32 + get32(bytes, 32) + 4;
    check_word(bytes, size, 0, 0xfffffff0, "leads to");
    check_word(bytes, size, 0, 0, "leads to");
    check_word(bytes, size, 0, 21, "leads to");
    check_word(bytes, size, 20, 0, "vtable");                     /* a table that is its own vtable */
    check_word(bytes, size, 20, 0x80000000, "has its vtable at"); /* far behind the end */
    check_word(bytes, size, 20, 24, "has its vtable at -4");
    check_word(bytes, size, 8, 0x00140003, "has a size of 3");
    check_word(bytes, size, 8, 0xffff000c, "has a size of 65535");
    check_word(bytes, size, 12, 0x00080013, "is outside of it");
    check_word(bytes, size, 36, 5, "format_version is 5");
    check_word(bytes, size, 24 + get32(bytes, 24), 0x7fffffff, "more than the file");
    check_word(bytes, size, 24, 4, "overlaps");                    /* symbols within the root */
    check_word(bytes, size, sections + 4, 0xfffffffc, "leads to"); /* backwards */
    mw_e5_destroy(e5);
}

/* Two sections that are one table: a file of 1 MB would be read 100,000 times otherwise. */
static void test_shared_tables_are_refused(void)
{
    static char bytes[BYTES_MAX];
    mw_error err = {0};
    mw_e5 *e5 = make(chain(1, 8));
    const size_t size = bytes_of(e5, bytes), sections = 32 + get32(bytes, 32) + 4;
    put32(bytes, sections, get32(bytes, sections + 4) + 4);
    CHECK(mw_e5_parse(bytes, size, NULL, &err) == NULL);
    CHECK_ERROR(err, MW_ERROR_FORMAT, "overlaps another table");
    mw_e5_destroy(e5);
}

/* A thousand symbols that are one long string. */
static void test_strings_that_are_read_too_often_are_refused(void)
{
    enum { SYMBOLS = 1000, LENGTH = 1000, SIZE = 40 + 4 + 4 * SYMBOLS + 4 + LENGTH + 4 };
    static char bytes[SIZE];
    static const unsigned char head[] = {0x14, 0, 0, 0, 0, 0, 0, 0, 0x0c, 0, 0x14, 0, 4, 0, 0, 0, 0, 0, 0x10, 0};
    mw_error err = {0};
    memcpy(bytes, head, sizeof head);
    put32(bytes, 20, 12);
    put32(bytes, 24, 16);
    put32(bytes, 36, 4);
    put32(bytes, 40, SYMBOLS);
    for (uint32_t i = 0; i < SYMBOLS; i++)
        put32(bytes, 44 + 4 * i, 4 * (SYMBOLS - i));
    put32(bytes, 44 + 4 * SYMBOLS, LENGTH);
    memset(bytes + 48 + 4 * SYMBOLS, 'x', LENGTH);
    CHECK(mw_e5_parse(bytes, sizeof bytes, NULL, &err) == NULL);
    CHECK_ERROR(err, MW_ERROR_FORMAT, "is read too often");
}

/* A file whose sections have another form is read as far as its root goes, and cannot be written. */
static void test_unknown_sections_are_notes(void)
{
    static char bytes[BYTES_MAX];
    mw_error err = {0};
    mw_e5 *e5 = make(chain(1, 8));
    const size_t size = bytes_of(e5, bytes), sections = 32 + get32(bytes, 32) + 4;
    const size_t section = sections + get32(bytes, sections);
    put32(bytes, section + 4, 4711); /* the symbol that is its name */
    mw_e5 *read = mw_e5_parse(bytes, size, NULL, &err);
    CHECK_OK(err);
    REQUIRE(read != NULL);
    CHECK(mw_e5_program_of(read)->note_count >= 2);
    CHECK_INT(mw_e5_program_of(read)->symbol_count, mw_e5_program_of(e5)->symbol_count);
    CHECK_CONTAINS(mw_e5_program_of(read)->notes[0], "section 0, a table of 2 fields");
    CHECK(mw_e5_bytes(read, NULL, &err) == NULL);
    CHECK_ERROR(err, MW_ERROR_UNSUPPORTED, "not all is understood");
    mw_e5_destroy(read);
    mw_e5_destroy(e5);
}

/* ---- refusals, memory ---- */

static void check_refused(mw_graph *graph, mw_status status, const char *why)
{
    mw_error err = {0};
    CHECK(mw_e5_create(graph, NULL, &err) == NULL);
    CHECK_ERROR(err, status, why);
    mw_graph_destroy(graph);
}

static void test_what_has_no_code_is_refused_by_name(void)
{
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_output(mw_relu(mw_input(graph, "x", MW_F16, MW_SHAPE(1, 1, 1, 2, 3))), "y");
    check_refused(graph, MW_ERROR_UNSUPPORTED, "\"x\" is of rank 5");
    graph = mw_graph_create(NULL, NULL);
    mw_tensor *x = mw_input(graph, "x", MW_F16, MW_SHAPE(3));
    mw_output(mw_less(x, mw_relu(x)), "smaller");
    check_refused(graph, MW_ERROR_UNSUPPORTED, "\"smaller\" has a type without a code");
    graph = mw_graph_create(NULL, NULL);
    mw_output(mw_relu(mw_input(graph, "x", MW_F16, MW_SHAPE(MW_DIM_UNKNOWN, 3))), "y");
    check_refused(graph, MW_ERROR_SHAPE, "`?` extents");
    mw_error err = {0};
    const mw_e5_options zeroed = {0};
    graph = chain(1, 8);
    CHECK(mw_e5_create(graph, &zeroed, &err) == NULL);
    CHECK_ERROR(err, MW_ERROR_ARGUMENT, "mw_e5_defaults");
    mw_graph_destroy(graph);
    check_refused(NULL, MW_ERROR_ARGUMENT, "the graph is NULL");
    err = (mw_error){0};
    CHECK(mw_e5_text(NULL, &err) == NULL);
    CHECK_ERROR(err, MW_ERROR_ARGUMENT, "NULL");
    mw_e5_destroy(NULL);
    CHECK(mw_e5_program_of(NULL) == NULL);
}

static void test_every_failed_allocation_is_reported(void)
{
    for (long n = 0;; n++) {
        failing_allocator failing = {.fail_at = n};
        mw_allocator allocator = failing_allocator_of(&failing);
        mw_e5_options options = mw_e5_defaults();
        mw_error err = {0};
        options.allocator = &allocator;
        mw_graph *graph = recurrent();
        mw_e5 *e5 = mw_e5_create(graph, &options, &err);
        mw_graph_destroy(graph);
        if (failing.failed)
            CHECK(e5 == NULL && err.status == MW_ERROR_MEMORY);
        else
            CHECK(e5 != NULL);
        mw_e5_destroy(e5);
        CHECK_INT(failing.live, 0);
        if (!failing.failed)
            break;
    }
}

int main(void)
{
    RUN(test_first_bytes_are_the_published_ones);
    RUN(test_enumerations_are_closed);
    RUN(test_size_does_not_grow_with_depth_or_shape);
    RUN(test_fused_graph_is_cast_inference_cast);
    RUN(test_bridge_makes_three_inferences);
    RUN(test_bridges_are_the_callers_choice);
    RUN(test_five_states_give_six_casts_one_inference_six_casts);
    RUN(test_layout_of_the_engine_is_that_of_containers);
    RUN(test_write_read_write_gives_equal_bytes);
    RUN(test_files_are_written_and_read);
    RUN(test_flatc_wrote_the_same);
    RUN(test_json_has_every_part);
    RUN(test_no_cut_passes_for_whole);
    RUN(test_changed_bytes_do_no_harm);
    RUN(test_bad_offsets_are_refused_by_name);
    RUN(test_shared_tables_are_refused);
    RUN(test_strings_that_are_read_too_often_are_refused);
    RUN(test_unknown_sections_are_notes);
    RUN(test_what_has_no_code_is_refused_by_name);
    RUN(test_every_failed_allocation_is_reported);
    return check_finish();
}
