/* Containers made by hand in the styles of several compilers, and what can be asked of and done to them. */
#include "base/text/json.h"
#include "chip/hwx/hwx.h"
#include "chip/hwx/hwx_bytes.h"
#include "chip/hwx/operation.h"
#include "chip/hwx/stab.h"
#include "support/check.h"
#include "support/failing.h"
#include "support/folder.h"

#include <millwright/chip_all.h>
#include <millwright/graph.h>
#include <stdlib.h>

static const hwx_style styles[] = {{4, false, false}, {4, false, true}, {4, true, true},
                                   {5, true, true},   {9, true, false}, {1, false, false}};

enum { STYLES = sizeof styles / sizeof *styles };

static hwx_made made;

static mw_hwx *open_made(hwx_style style, mw_error *err)
{
    hwx_make(&made, style);
    return mw_hwx_parse(made.bytes, made.size, NULL, err);
}

static void check_same(const mw_hwx *hwx, const uint8_t *bytes, size_t size)
{
    mw_error err = {0};
    void *out = NULL;
    size_t out_size = 0;
    mw_hwx_write_memory(hwx, &out, &out_size, &err);
    CHECK_OK(err);
    CHECK_INT(out_size, size);
    CHECK(out != NULL && out_size == size && memcmp(out, bytes, size) == 0);
    mw_string_free(out);
}

static void test_each_style_comes_back(void)
{
    for (size_t i = 0; i < STYLES; i++) {
        mw_error err = {0};
        mw_hwx *hwx = open_made(styles[i], &err);
        CHECK_OK(err);
        check_same(hwx, made.bytes, made.size);
        mw_hwx_destroy(hwx);
    }
}

static void test_fields_are_what_was_put_in(void)
{
    mw_error err = {0};
    mw_hwx *hwx = open_made((hwx_style){4, true, true}, &err);
    REQUIRE(hwx != NULL);
    const mw_hwx_info *info = mw_hwx_get_info(hwx);
    CHECK_STR(info->compiler, "zin_ane_compiler v9.509.0");
    CHECK_STR(info->procedure, "net");
    CHECK_STR(mw_hwx_segment_at(hwx, 3)->name, "__TEXT");
    CHECK(mw_hwx_segment_at(hwx, 4) == NULL);
    CHECK_STR(mw_hwx_symbol_at(hwx, 1)->name, "out@output");
    CHECK_INT(mw_hwx_symbol_at(hwx, 1)->value, 0x3000c000);
    const mw_hwx_port *in = mw_hwx_port_at(hwx, 0), *out = mw_hwx_port_at(hwx, 1);
    REQUIRE(in != NULL && out != NULL);
    CHECK_STR(in->name, "in");
    CHECK(!in->is_output && out->is_output);
    CHECK_INT(in->base_register, 4); /* later compilers put inputs first */
    CHECK_INT(out->base_register, 5);
    CHECK_INT(in->extent[1], 3);
    CHECK_INT(hwx->program->note_value, 0x1eb);
    const mw_hwx_task *task = mw_hwx_task_at(hwx, 1);
    CHECK_INT(task->offset, 0x100);
    CHECK_INT(task->word_count, 60);
    CHECK_INT(task->record_count, 6);
    uint32_t value = 0;
    CHECK(mw__hwx_task_register(mw__hwx_task_at(hwx, 1), 0x1f84c, &value));
    CHECK_INT(value, 0x40);
    CHECK(!mw__hwx_task_register(mw__hwx_task_at(hwx, 1), 0x1f8c8, &value));
    mw_hwx_destroy(hwx);
}

/* What nobody explains: a load command, a word of a thread state, what stands between sections. */
static void test_unknown_bytes_are_kept_and_shown(void)
{
    hwx_make(&made, (hwx_style){4, false, true});
    made.bytes[made.text + 0x80] = 0x5a; /* between two tasks */
    mw_error err = {0};
    mw_hwx *hwx = mw_hwx_parse(made.bytes, made.size, NULL, &err);
    CHECK_OK(err);
    check_same(hwx, made.bytes, made.size);
    char *text = mw_hwx_text(hwx, &err), *json = mw_hwx_json(hwx, &err);
    CHECK_CONTAINS(text, "unknown");
    CHECK_CONTAINS(json, "\"0x77\"");
    CHECK_CONTAINS(json, "01020320776861742069732074686973"); /* its body */
    CHECK_CONTAINS(json, "\"5a\"");
    CHECK_CONTAINS(json, "\"cdab\"");
    mw_string_free(text);
    mw_string_free(json);
    mw_hwx_destroy(hwx);
}

static mw_status count_events(void *user, const mw__json_item *item, mw_error *err)
{
    (void)err;
    (void)item;
    ++*(size_t *)user;
    return MW_OK;
}

static void test_json_is_json(void)
{
    for (size_t i = 0; i < STYLES; i++) {
        mw_error err = {0};
        size_t events = 0;
        mw_hwx *hwx = open_made(styles[i], &err);
        char *json = mw_hwx_json(hwx, &err);
        REQUIRE(CHECK_OK(err));
        mw__json_read_all(NULL, json, strlen(json), count_events, &events, &err);
        CHECK_OK(err);
        CHECK(events > 400);
        mw_string_free(json);
        mw_hwx_destroy(hwx);
    }
}

/* ---- weights ---- */

/* 1 to 9 and 10 to 12 in halves. */
static const uint16_t numbers[] = {0,      0x3c00, 0x4000, 0x4200, 0x4400, 0x4500, 0x4600,
                                   0x4700, 0x4800, 0x4880, 0x4900, 0x4980, 0x4a00};

static void test_weights_are_the_matrix(void)
{
    mw_error err = {0};
    uint16_t weights[9], bias[3];
    mw_hwx *hwx = open_made(styles[0], &err);
    const mw_hwx_kernel *kernel = mw_hwx_kernel_at(hwx, 0);
    REQUIRE(kernel != NULL && kernel->kind == MW_HWX_WEIGHTS);
    CHECK(mw_hwx_kernel_at(hwx, 1) == NULL);
    CHECK_INT(kernel->task, 1);
    CHECK_INT(kernel->extent[0] * 1000 + kernel->extent[1] * 100 + kernel->extent[2] * 10 + kernel->extent[3], 3311);
    CHECK(kernel->has_bias);
    CHECK_INT(mw_hwx_get_weights(hwx, 0, weights, 9, bias, &err), MW_OK);
    CHECK(memcmp(weights, numbers + 1, sizeof weights) == 0);
    CHECK(memcmp(bias, numbers + 10, sizeof bias) == 0);
    mw_hwx_destroy(hwx);
}

static void test_weights_are_patched_in_place(void)
{
    mw_error err = {0};
    uint16_t weights[9];
    mw_hwx *hwx = open_made(styles[1], &err);
    for (size_t i = 0; i < 9; i++)
        weights[i] = (uint16_t)(0x1111 * (i + 1));
    CHECK_INT(mw_hwx_set_weights(hwx, 0, weights, 9, numbers, &err), MW_OK);
    for (size_t o = 0; o < 3; o++) { /* the same by hand: a tile for each channel, bias first */
        const uint16_t column[] = {numbers[o], weights[o * 3], weights[o * 3 + 1], weights[o * 3 + 2]};
        for (size_t k = 0; k < 4; k++) {
            made.bytes[made.constants + 0x40 * o + 2 * k] = (uint8_t)column[k];
            made.bytes[made.constants + 0x40 * o + 2 * k + 1] = (uint8_t)(column[k] >> 8);
        }
    }
    check_same(hwx, made.bytes, made.size);
    mw_hwx_destroy(hwx);
}

static void test_wrong_weights_are_refused(void)
{
    mw_error err = {0};
    uint16_t weights[9] = {0};
    mw_hwx *hwx = open_made(styles[0], &err);
    mw_hwx_get_weights(hwx, 1, weights, 9, NULL, &err);
    CHECK_ERROR(err, MW_ERROR_ARGUMENT, "kernel 1 of 1");
    mw_error_clear(&err);
    mw_hwx_set_weights(hwx, 0, weights, 8, NULL, &err);
    CHECK_ERROR(err, MW_ERROR_SHAPE, "[3, 3, 1, 1]");
    mw_error_clear(&err);
    mw_hwx_table table;
    mw_hwx_get_table(hwx, 0, &table, &err);
    CHECK_ERROR(err, MW_ERROR_ARGUMENT, "no table");
    mw_hwx_destroy(hwx);
}

/* Each word that decides the order, with a value that nobody has explained. */
static void test_orders_that_are_not_known_stay_opaque(void)
{
    static const struct {
        size_t word; /* of the second task */
        uint32_t value;
        const char *note;
    } cases[] = {
        {40, 0x182, "sparse"},
        {40, 0x86, "palettized"},
        {40, 0x81, "not fp16"},
        {41, 0x101c0c, "not multiply"},
        {41, 0x121c10, "a table"},
        {30, 0x5000c021, "strides"},
        {32, 0x4001, "no channels"},
        {27, 17, "the sizes of the tiles"},
        {10 + 8 + 1, 0x80, "the sizes of the tiles"},
        {15, 0x10000000, "in no section"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        mw_error err = {0};
        hwx_make(&made, styles[0]);
        hwx_put32(made.bytes + made.text + 0x100 + 4 * cases[i].word, cases[i].value);
        mw_hwx *hwx = mw_hwx_parse(made.bytes, made.size, NULL, &err);
        const mw_hwx_kernel *kernel = mw_hwx_kernel_at(hwx, 0);
        REQUIRE(CHECK_OK(err) && CHECK(kernel != NULL));
        CHECK_INT(kernel->kind, MW_HWX_OPAQUE);
        CHECK_CONTAINS(kernel->note != NULL ? kernel->note : "", cases[i].note);
        check_same(hwx, made.bytes, made.size);
        mw_hwx_destroy(hwx);
    }
}

/* Two input channels of its own for each output: bias, then both weights. */
static void test_channels_of_their_own(void)
{
    mw_error err = {0};
    uint16_t weights[6], bias[3];
    hwx_make(&made, styles[0]);
    hwx_put32(made.bytes + made.text + 0x100 + 4 * 32, 2 << 16 | 0x4001);
    mw_hwx *hwx = mw_hwx_parse(made.bytes, made.size, NULL, &err);
    const mw_hwx_kernel *kernel = mw_hwx_kernel_at(hwx, 0);
    REQUIRE(kernel != NULL && kernel->kind == MW_HWX_WEIGHTS);
    CHECK_INT(kernel->extent[1], 2);
    char operation[96];
    mw__hwx_operation(hwx, 1, operation);
    CHECK_STR(operation, "conv 1x1 of 3 to 3 channels, 2 to each, bias");
    CHECK_INT(mw_hwx_get_weights(hwx, 0, weights, 6, bias, &err), MW_OK);
    for (size_t o = 0; o < 3; o++) {
        CHECK_INT(bias[o], numbers[10 + o]);
        CHECK_INT(weights[2 * o], numbers[1 + 3 * o]);
        CHECK_INT(weights[2 * o + 1], numbers[2 + 3 * o]);
    }
    mw_hwx_destroy(hwx);
}

/* ---- tasks of other chips ---- */

static void test_frames_of_later_chips(void)
{
    mw_error err = {0};
    mw_hwx *hwx = open_made((hwx_style){5, true, false}, &err);
    REQUIRE(hwx != NULL);
    CHECK_STR(mw_hwx_get_info(hwx)->chip_name, "h14");
    const mw_hwx_task *broken = mw_hwx_task_at(hwx, 0), *task = mw_hwx_task_at(hwx, 1);
    REQUIRE(broken != NULL && task != NULL && mw_hwx_task_at(hwx, 2) == NULL);
    CHECK(!broken->decoded && task->decoded);
    CHECK_INT(task->id, 1);
    CHECK_INT(task->record_count, 2);
    const mw__hwx_record *records = mw__hwx_task_at(hwx, 1)->records;
    CHECK(records[0].head.kind == MW__PACKET_RUN && records[0].head.count == 3 && records[0].values[2] == 13);
    CHECK(records[1].head.kind == MW__PACKET_MASK && records[1].head.count == 2 && records[1].head.mask == 1);
    CHECK_INT(records[1].values[1], 22);
    CHECK_INT(broken->record_count, 1); /* those that are whole are shown */
    CHECK_CONTAINS(broken->note, "more values than are left");
    mw_hwx_destroy(hwx);
}

static void test_chips_without_published_tasks(void)
{
    mw_error err = {0};
    mw_hwx *hwx = open_made((hwx_style){1, false, false}, &err);
    char *text = mw_hwx_text(hwx, &err);
    CHECK_CONTAINS(text, "how this chip writes tasks is not published");
    CHECK(mw_hwx_task_at(hwx, 0) == NULL);
    mw_string_free(text);
    mw_hwx_destroy(hwx);
}

static void test_firmware_containers_are_refused_by_name(void)
{
    static const char *const names[] = {"ANEH", "ANEP", "ANES", "SENA"};
    for (size_t i = 0; i < 4; i++) {
        mw_error err = {0};
        char bytes[64] = {0};
        memcpy(bytes, names[i], 4);
        CHECK(mw_hwx_parse(bytes, sizeof bytes, NULL, &err) == NULL);
        CHECK_ERROR(err, MW_ERROR_UNSUPPORTED, i < 3 ? names[i] : "ANES");
    }
}

/* ---- .ane ---- */

static void test_ane_there_and_back(void)
{
    static const uint64_t offsets[] = {0x1000, 0x800, 0x2000};
    for (size_t i = 0; i < 3; i++) {
        mw_error err = {0};
        void *bytes = NULL;
        size_t size = 0;
        mw_hwx *hwx = open_made(styles[0], &err);
        mw_ane_options options = mw_ane_defaults();
        options.payload_offset = offsets[i];
        CHECK_INT(mw_hwx_write_ane(hwx, &options, &bytes, &size, &err), MW_OK);
        REQUIRE(CHECK_INT(size, offsets[i] + 0x200 + 0xc0));
        const uint8_t *b = bytes;
        CHECK(memcmp(b + offsets[i], made.bytes + made.text, 0x200 + 0xc0) == 0);
        CHECK_INT(hwx_get32(b), 0x2c0);
        CHECK_INT(hwx_get32(b + 8), 64);
        CHECK_INT(hwx_get32(b + 12), 2);
        CHECK_INT(hwx_get32(b + 40 + 4 * 4), 1);       /* pages of the output */
        CHECK_INT(hwx_get32(b + 168 + 4 * 48 + 8), 3); /* its channels */
        mw_hwx *ane = mw_hwx_parse_ane(b, size, i < 2 ? 0 : offsets[i], NULL, &err);
        REQUIRE(CHECK_OK(err) && CHECK(ane != NULL));
        CHECK(mw_hwx_get_info(ane)->is_ane);
        CHECK_INT(mw_hwx_get_info(ane)->payload_offset, offsets[i]);
        check_same(ane, b, size);
        CHECK_INT(mw_hwx_kernel_at(ane, 0)->kind, MW_HWX_WEIGHTS);
        CHECK_STR(mw_hwx_port_at(ane, 0)->name, "output_0");
        CHECK_INT(mw_hwx_port_at(ane, 1)->base_register, 5);
        void *again = NULL;
        size_t again_size = 0;
        CHECK_INT(mw_hwx_write_ane(ane, &options, &again, &again_size, &err), MW_OK);
        CHECK(again != NULL && again_size == size && memcmp(again, b, size) == 0);
        mw_string_free(again);
        mw_string_free(bytes);
        mw_hwx_destroy(ane);
        mw_hwx_destroy(hwx);
    }
}

static void test_ane_of_other_chips_is_refused(void)
{
    mw_error err = {0};
    void *bytes = NULL;
    size_t size = 0;
    mw_hwx *hwx = open_made((hwx_style){5, true, false}, &err);
    mw_hwx_write_ane(hwx, NULL, &bytes, &size, &err);
    CHECK_ERROR(err, MW_ERROR_UNSUPPORTED, "h14");
    mw_hwx_destroy(hwx);
}

/* ---- types ---- */

static void test_stabs(void)
{
    mw__stab stab;
    CHECK(mw__stab_read("image:t11=ar1;0;1;12=s192n:ar1;0;3;13=s64c:ar1;0;5;14=s64h:ar1;0;77;15=s2w:5", &stab));
    CHECK_INT(stab.axis_count, 4);
    CHECK_INT(stab.axes[1].letter, 'c');
    CHECK_INT(stab.axes[1].stride, 64);
    CHECK_INT(stab.axes[3].extent, 77);
    CHECK_INT(stab.element, 5);
    CHECK_INT(stab.number, 11);
    CHECK(mw__stab_read("int16:t4=r1;-32768;32767", &stab) && stab.is_range && stab.low == -32768);
    CHECK(mw__stab_read("void:t1=1", &stab) && !stab.is_range);
    CHECK(mw__stab_read("lut:t8=", &stab));
    static const char nine[] = "x:t1=ar1;0;1;2=s2w:ar1;0;1;2=s2w:ar1;0;1;2=s2w:ar1;0;1;2=s2w:ar1;0;1;2=s2w:"
                               "ar1;0;1;2=s2w:ar1;0;1;2=s2w:ar1;0;1;2=s2w:ar1;0;1;2=s2w:5";
    static const char *const wrong[] = {
        "", ":t", "x:t=", "x:t1=ar1;0;", "x:t1=ar1;0;9999999999999999999999;2=s2w:5", "x:t1=r1;0;1 ", nine};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        CHECK(!mw__stab_read(wrong[i], &stab));
}

/* ---- files ---- */

static void test_files_on_disk(void)
{
    char folder[512];
    mw_error err = {0};
    REQUIRE(folder_enter(folder));
    mw_hwx *hwx = open_made(styles[2], &err);
    CHECK_INT(mw_hwx_write(hwx, "a.hwx", &err), MW_OK);
    mw_hwx_destroy(hwx);
    hwx = mw_hwx_open("a.hwx", &err);
    CHECK_OK(err);
    check_same(hwx, made.bytes, made.size);
    CHECK_INT(mw_hwx_write(hwx, "no/such/folder/a.hwx", &err), MW_ERROR_FILE);
    mw_hwx_destroy(hwx);
    folder_leave(folder);
}

/* ---- allocation ---- */

static void test_each_allocation_may_fail(void)
{
    hwx_make(&made, (hwx_style){4, true, true});
    for (long n = 0; n < 1000; n++) {
        failing_allocator failing = {.fail_at = n};
        mw_allocator allocator = failing_allocator_of(&failing);
        mw_error err = {0};
        mw_hwx *hwx = mw_hwx_parse(made.bytes, made.size, &allocator, &err);
        CHECK(failing.failed == (hwx == NULL));
        if (hwx == NULL)
            CHECK_INT(err.status, MW_ERROR_MEMORY);
        mw_hwx_destroy(hwx);
        CHECK_INT(failing.live, 0);
        if (!failing.failed)
            return;
    }
    CHECK(false);
}

int main(void)
{
    RUN(test_each_style_comes_back);
    RUN(test_fields_are_what_was_put_in);
    RUN(test_unknown_bytes_are_kept_and_shown);
    RUN(test_json_is_json);
    RUN(test_weights_are_the_matrix);
    RUN(test_weights_are_patched_in_place);
    RUN(test_wrong_weights_are_refused);
    RUN(test_orders_that_are_not_known_stay_opaque);
    RUN(test_channels_of_their_own);
    RUN(test_frames_of_later_chips);
    RUN(test_chips_without_published_tasks);
    RUN(test_firmware_containers_are_refused_by_name);
    RUN(test_ane_there_and_back);
    RUN(test_ane_of_other_chips_is_refused);
    RUN(test_stabs);
    RUN(test_files_on_disk);
    RUN(test_each_allocation_may_fail);
    return check_finish();
}
