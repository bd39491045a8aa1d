/* Tasks that lie: cut at every byte, with every bit turned, and words at random. Each is refused or runs within its
 * windows and limits, and what is refused has written nothing. */
#include "chip/hwx/hwx_made.h"
#include "support/check.h"

#include <stdlib.h>

enum { WORK = 1 << 18 };

/* Runs the chain's tasks one by one over the windows of the file's ports; the number of those that ran. */
static int run_bounded(hwx_file *file, const mw__task_chain *chain, int64_t *out_wrong)
{
    mw__chip_window windows[HWX_PORTS + 1] = {
        {"constants", file->constants_address, file->own_constants, file->constants_size, false}};
    mw__chip_machine machine = {.bases = file->bases,
                                .windows = windows,
                                .window_count = (size_t)file->port_count + 1,
                                .limits = {.work = WORK, .memory = 1 << 22}};
    hwx_port *out = hwx_file_output(file);
    uint8_t *before = malloc(out->bytes);
    int ran = 0;
    for (int i = 0; i < file->port_count; i++)
        windows[1 + i] = (mw__chip_window){file->ports[i].name, file->ports[i].address, file->ports[i].memory,
                                           file->ports[i].bytes, file->ports[i].is_output};
    for (size_t i = 0; i < chain->count; i++) {
        mw_error err = {0};
        memcpy(before, out->memory, out->bytes);
        machine.work = 0;
        const mw_status status = mw__task_run_one(&machine, &chain->tasks[i], &err);
        ran += status == MW_OK;
        *out_wrong += status != err.status || machine.work > WORK || (status != MW_OK && err.message[0] == '\0');
        *out_wrong += status != MW_OK && memcmp(before, out->memory, out->bytes) != 0;
    }
    free(before);
    return ran;
}

static int read_and_run(hwx_file *file, const uint8_t *text, size_t size, int64_t *out_wrong)
{
    mw__task_chain chain;
    mw_error err = {0};
    const mw_status status = mw__task_chain_read(NULL, text, size, &file->start, &chain, &err);
    *out_wrong += status != err.status;
    const int ran = run_bounded(file, &chain, out_wrong);
    mw__task_chain_deinit(&chain);
    return ran;
}

/* ---- programs of each kind ---- */

static const uint16_t weights[3 * 2 * 9] = {0x3c00, 0x4000, 0x4200, 0xbc00};

static mw__emit_operation program_of(int kind)
{
    switch (kind) {
    case 0:
        return hwx_made_unary(MW__EMIT_RELU, (mw__emit_extent){2, 3, 9});
    case 1:
        return hwx_made_unary(MW__EMIT_TABLE, (mw__emit_extent){2, 3, 9});
    case 2:
        return hwx_made_binary(1, (mw__emit_extent){2, 3, 9});
    default:
        return hwx_made_conv((mw__emit_extent){2, 3, 9}, 3, 3, 1, weights, weights);
    }
}
enum { KINDS = 4 };

static void test_a_task_that_ends_early_is_refused(void)
{
    for (int kind = 0; kind < KINDS; kind++) {
        const mw__emit_operation op = program_of(kind);
        hwx_file file;
        int64_t wrong = 0;
        REQUIRE(hwx_made_open(&file, &op));
        for (size_t size = 0; size < file.text_size; size++) {
            uint8_t *cut = malloc(size + 1); /* a block of its own, so that a sanitizer sees what is read behind it */
            memcpy(cut, file.text, size);
            wrong += read_and_run(&file, cut, size, &wrong) != 0;
            free(cut);
        }
        CHECK_INT(wrong, 0);
        CHECK_INT(read_and_run(&file, file.text, file.text_size, &wrong), 1);
        hwx_file_close(&file);
    }
}

static void test_every_bit_of_a_task_may_be_turned(void)
{
    for (int kind = 0; kind < KINDS; kind++) {
        const mw__emit_operation op = program_of(kind);
        hwx_file file;
        int64_t wrong = 0;
        int ran = 0;
        REQUIRE(hwx_made_open(&file, &op));
        uint8_t *text = malloc(file.text_size);
        for (size_t bit = 0; bit < 8 * file.text_size; bit++) {
            memcpy(text, file.text, file.text_size);
            text[bit / 8] ^= (uint8_t)(1 << bit % 8);
            ran += read_and_run(&file, text, file.text_size, &wrong);
        }
        CHECK_INT(wrong, 0);
        CHECK(ran > 100); /* of words without an effect; the others are refused */
        free(text);
        hwx_file_close(&file);
    }
}

/* Several words at once, each another value, a small one or one with a few bits. */
static void test_words_at_random(void)
{
    enum { ROUNDS = 20000 };
    uint64_t state = 1442695040888963407u;
    for (int kind = 0; kind < KINDS; kind++) {
        const mw__emit_operation op = program_of(kind);
        hwx_file file;
        int64_t wrong = 0;
        REQUIRE(hwx_made_open(&file, &op));
        uint8_t *text = malloc(file.text_size);
        for (int round = 0; round < ROUNDS; round++) {
            memcpy(text, file.text, file.text_size);
            for (int change = 0; change <= round % 4; change++) {
                state = state * 6364136223846793005u + 1442695040888963407u;
                const uint32_t at = (uint32_t)(state >> 33) % (uint32_t)(file.text_size / 4);
                const uint32_t value = (uint32_t)(state >> 13) >> (state >> 59);
                memcpy(text + 4 * at, &value, 4);
            }
            read_and_run(&file, text, file.text_size, &wrong);
        }
        CHECK_INT(wrong, 0);
        free(text);
        hwx_file_close(&file);
    }
}

/* ---- chains ---- */

static void put_word(uint8_t *text, size_t index, uint32_t value)
{
    for (int i = 0; i < 4; i++)
        text[4 * index + (size_t)i] = (uint8_t)(value >> (8 * i));
}

static void check_chain(const uint8_t *text, size_t size, mw__task_start start, const char *part)
{
    mw__task_chain chain;
    mw_error err = {0};
    CHECK(mw__task_chain_read(NULL, text, size, &start, &chain, &err) == MW_ERROR_FORMAT);
    CHECK_ERROR(err, MW_ERROR_FORMAT, part);
    CHECK(chain.tasks == NULL && chain.count == 0);
}

static void test_chains_that_lead_nowhere_are_refused(void)
{
    enum { WORDS = 64 };
    uint8_t text[4 * WORDS] = {0};
    mw__task_chain chain;
    mw_error err = {0};
    put_word(text, 1, 9 << 16); /* the next task has ten words: a header alone */
    put_word(text, 7, 64);
    CHECK(mw__task_chain_read(NULL, text, sizeof text, &(mw__task_start){0, 10, 2}, &chain, &err) == MW_OK);
    CHECK_INT(chain.count, 2);
    mw__task_chain_deinit(&chain);
    check_chain(text, sizeof text, (mw__task_start){0, 10, 3}, "2 tasks and the program state says 3");
    check_chain(text, sizeof text, (mw__task_start){0, 9, 2}, "fewer than the 10");
    check_chain(text, sizeof text, (mw__task_start){2, 10, 2}, "no such task");
    check_chain(text, sizeof text, (mw__task_start){0, SIZE_MAX, 2}, "no such task");
    check_chain(text, 100, (mw__task_start){0, 10, 2}, "no such task");
    put_word(text, 7, 36); /* into itself */
    check_chain(text, sizeof text, (mw__task_start){0, 10, 2}, "before this one ends");
    put_word(text, 7, 0xfffffffc);
    check_chain(text, sizeof text, (mw__task_start){0, 10, 2}, "no such task");
    put_word(text, 7, 0);
    put_word(text, 10, 0x3c000000); /* 16 registers, and 5 words are left */
    check_chain(text, sizeof text, (mw__task_start){0, 16, 1}, "a run of 16 registers");
    put_word(text, 10, 0x10000001);
    check_chain(text, sizeof text, (mw__task_start){0, 16, 1}, "multiples of 4");
    put_word(text, 9, 3); /* one more word of header */
    check_chain(text, sizeof text, (mw__task_start){0, 10, 1}, "fewer than the 11");
}

int main(void)
{
    RUN(test_a_task_that_ends_early_is_refused);
    RUN(test_every_bit_of_a_task_may_be_turned);
    RUN(test_words_at_random);
    RUN(test_chains_that_lead_nowhere_are_refused);
    return check_finish();
}
