/* A file of H18G made by hand, as the study describes one: __RUNTIME, and three chains at pages of __TEXT. Which
 * sections a real one has is not published. */
#include "chip/hwx/hwx.h"
#include "chip/hwx/hwx_bytes.h"
#include "chip/hwx/words_v24.h"
#include "support/check.h"

#include <millwright/graph.h>
#include <stdlib.h>

enum { PAGE = MW__HWX_PAGE, CHAINS = 3, SIZE = (2 + CHAINS) * PAGE, COMMANDS = 32, RUNTIME_WORDS = 4 };

static uint8_t file[SIZE];

static const char *const names[] = {"main", "main__nonbonded", "main__bonded", "rt_op_ane_kick_0_ane_0"};

/* A segment with one section at `page` of the file and the memory; returns the end of the command. */
static size_t put_segment(size_t at, const char *segment, const char *section, size_t page, size_t size)
{
    uint8_t *c = file + at;
    hwx_put32(c, 0x19);
    hwx_put32(c + 4, 72 + 80);
    memcpy(c + 8, segment, strlen(segment));
    hwx_put64(c + 24, MW__HWX_BASE + (page - 1) * PAGE);
    hwx_put64(c + 32, size);
    hwx_put64(c + 40, page * PAGE);
    hwx_put64(c + 48, size);
    hwx_put32(c + 64, 1);
    memcpy(c + 72, section, strlen(section));
    memcpy(c + 72 + 16, segment, strlen(segment));
    hwx_put64(c + 72 + 32, MW__HWX_BASE + (page - 1) * PAGE);
    hwx_put64(c + 72 + 40, size);
    hwx_put32(c + 72 + 48, (uint32_t)(page * PAGE));
    return at + 72 + 80;
}

static size_t put_symbols(size_t at)
{
    enum { COUNT = sizeof names / sizeof *names };
    const size_t symbols = at + 24, strings = symbols + (size_t)16 * COUNT;
    size_t size = 1;
    for (size_t i = 0; i < COUNT; i++) {
        hwx_put32(file + symbols + 16 * i, (uint32_t)size);
        file[symbols + 16 * i + 4] = 0x0f;
        memcpy(file + strings + size, names[i], strlen(names[i]));
        size += strlen(names[i]) + 1;
    }
    const uint32_t command[] = {0x02, 24, (uint32_t)symbols, COUNT, (uint32_t)strings, (uint32_t)size};
    for (size_t i = 0; i < 6; i++)
        hwx_put32(file + at + 4 * i, command[i]);
    return at + 24;
}

static void make_file(void)
{
    memset(file, 0, sizeof file);
    size_t end = put_segment(COMMANDS, "__RUNTIME", "__graph", 1, RUNTIME_WORDS * 4);
    end = put_segment(end, "__TEXT", "__text", 2, (size_t)CHAINS * PAGE);
    end = put_symbols(end);
    const uint32_t header[] = {0xbeefface, 0x80, 11, 2, 3, (uint32_t)(end - COMMANDS), 0, 0};
    for (size_t i = 0; i < 8; i++)
        hwx_put32(file + 4 * i, header[i]);
    for (size_t i = 0; i < RUNTIME_WORDS; i++)
        hwx_put32(file + PAGE + 4 * i, (uint32_t)(0x11111111 * (i + 1)));
    for (size_t chain = 0; chain < CHAINS; chain++)
        for (size_t i = 0; i < words_v24_count; i++)
            hwx_put32(file + (2 + chain) * PAGE + 4 * i, words_v24[i]);
}

static void test_three_chains_and_a_runtime(void)
{
    mw_error err = {0};
    void *out = NULL;
    size_t size = 0;
    make_file();
    mw_hwx *hwx = mw_hwx_parse(file, sizeof file, NULL, &err);
    REQUIRE(CHECK_OK(err) && CHECK(hwx != NULL));
    for (size_t i = 0; i < 2 * (size_t)CHAINS; i++) {
        const mw_hwx_task *task = mw_hwx_task_at(hwx, i);
        REQUIRE(task != NULL);
        CHECK_INT(task->chain, i / 2);
        CHECK(task->decoded);
        CHECK_INT(task->offset, i / 2 * PAGE + 4 * (i % 2 == 0 ? WORDS_V24_FIRST : WORDS_V24_SECOND));
    }
    CHECK(mw_hwx_task_at(hwx, 2 * (size_t)CHAINS) == NULL);
    char *text = mw_hwx_text(hwx, &err);
    CHECK_CONTAINS(text, "how __RUNTIME, a graph of operations, is written is not published");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        CHECK_CONTAINS(text, names[i]);
    CHECK_INT(mw_hwx_write_memory(hwx, &out, &size, &err), MW_OK);
    CHECK(size == sizeof file && memcmp(out, file, size) == 0);
    mw_string_free(out);
    mw_string_free(text);
    mw_hwx_destroy(hwx);
}

/* Bytes at random, and chains whose heads are broken: opened or refused, and what opens comes back. */
static void test_bytes_turned_at_random(void)
{
    uint64_t state = 2463534242u;
    for (int round = 0; round < 1000; round++) {
        mw_error err = {0};
        void *out = NULL;
        size_t size = 0;
        make_file();
        for (int i = 0; i <= round % 4; i++) {
            state = state * 6364136223846793005u + 1442695040888963407u;
            const size_t places[] = {0, 2 * (size_t)PAGE, 3 * (size_t)PAGE, 4 * (size_t)PAGE};
            file[places[state >> 60 & 3] + (state >> 33) % 0x240] = (uint8_t)(state >> 20);
        }
        mw_hwx *hwx = mw_hwx_parse(file, sizeof file, NULL, &err);
        CHECK((hwx == NULL) == (err.status != MW_OK));
        if (hwx != NULL) {
            mw_hwx_write_memory(hwx, &out, &size, &err);
            CHECK(size == sizeof file && memcmp(out, file, size) == 0);
            char *json = mw_hwx_json(hwx, &err);
            CHECK_OK(err);
            mw_string_free(json);
            mw_string_free(out);
        }
        mw_hwx_destroy(hwx);
    }
}

int main(void)
{
    RUN(test_three_chains_and_a_runtime);
    RUN(test_bytes_turned_at_random);
    return check_finish();
}
