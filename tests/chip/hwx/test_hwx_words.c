/* Tasks from words alone: packets, fields and addresses of v24, what is said of versions that are known in part, and
 * words that lie. */
#include "base/text/json.h"
#include "chip/hwx/hwx.h"
#include "chip/hwx/hwx_bytes.h"
#include "chip/hwx/operation.h"
#include "chip/hwx/words_v24.h"
#include "support/check.h"
#include "support/failing.h"
#include "support/metered.h"

#include <millwright/graph.h>
#include <stdlib.h>

static mw_status take_item(void *user, const mw__json_item *item, mw_error *err)
{
    (void)user;
    (void)item;
    (void)err;
    return MW_OK;
}

static bool is_json(const char *text)
{
    mw_error err = {0};
    return mw__json_read_all(NULL, text, strlen(text), take_item, NULL, &err) == MW_OK;
}

static mw_hwx *open_words(uint32_t version, size_t count)
{
    mw_error err = {0};
    mw_hwx *hwx = mw_hwx_parse_words(words_v24, count, version, NULL, &err);
    CHECK_OK(err);
    return hwx;
}

static uint32_t field(const mw_hwx *hwx, size_t task, const char *name)
{
    const mw__packet_bits *bits = mw__packet_bits_named(name);
    uint32_t word = 0;
    if (CHECK(bits != NULL))
        check_note(mw__hwx_task_register(mw__hwx_task_at(hwx, task), bits->address, &word), __FILE__, __LINE__,
                   "%s is not written", name);
    return bits != NULL ? mw__packet_bits_of(bits, word) : 0;
}

/* ---- what the words say ---- */

static void test_tasks_and_packets_are_found(void)
{
    mw_hwx *hwx = open_words(24, words_v24_count);
    const mw_hwx_task *first = mw_hwx_task_at(hwx, 0), *second = mw_hwx_task_at(hwx, 1);
    REQUIRE(first != NULL && second != NULL && mw_hwx_task_at(hwx, 2) == NULL);
    CHECK_INT(first->offset, 4 * WORDS_V24_FIRST);
    CHECK_INT(first->word_count, WORDS_V24_FIRST_COUNT);
    CHECK_INT(second->offset, 4 * WORDS_V24_SECOND);
    CHECK_INT(second->word_count, WORDS_V24_SECOND_COUNT);
    CHECK(first->decoded && second->decoded && first->note == NULL);
    CHECK_INT(first->id * 10 + second->id, 78);
    CHECK_INT(second->flags, 0x48);
    CHECK_INT(first->record_count, 10);
    CHECK_INT(second->record_count, 3);
    CHECK(mw_hwx_get_info(hwx)->is_words);
    CHECK_INT(mw_hwx_get_info(hwx)->task_version, 24);
    CHECK_STR(mw_hwx_get_info(hwx)->chip_name, "h18g");
    mw_hwx_destroy(hwx);
}

static void test_fields_of_a_convolution(void)
{
    static const struct {
        const char *name;
        uint32_t value;
    } fields[] = {{"win", 40},         {"hin", 7},      {"cin", 24},       {"wout", 40},
                  {"hout", 7},         {"cout", 48},    {"kernel_w", 5},   {"kernel_h", 3},
                  {"stride_w", 1},     {"stride_h", 1}, {"pad_left", 2},   {"pad_top", 1},
                  {"offset_w", 1},     {"offset_h", 1}, {"type", 0},       {"small_source", 1},
                  {"l2_barrier", 1},   {"lanes", 3},    {"task_nid", 2},   {"kernel_format", 2},
                  {"palette_bits", 8}, {"bias_row", 1}, {"activation", 1}, {"binary_point", 0x3c}};
    char operation[96];
    mw_hwx *hwx = open_words(24, words_v24_count);
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        check_note(field(hwx, 0, fields[i].name) == fields[i].value, __FILE__, __LINE__, "%s is %u", fields[i].name,
                   field(hwx, 0, fields[i].name));
    mw__hwx_operation(hwx, 0, operation);
    CHECK_STR(operation, "conv 3x5 of 24 to 48 channels, relu");
    mw__hwx_operation(hwx, 1, operation);
    CHECK_STR(operation, "elementwise");
    CHECK_INT(field(hwx, 1, "pe_operation"), 2);
    CHECK_INT(field(hwx, 1, "in2"), 2);
    mw_hwx_destroy(hwx);
}

static void test_addresses_have_their_bar(void)
{
    static const struct {
        uint32_t address, bar;
        const char *name;
    } rows[] = {{0x1544, 4, "kernel"},
                {0x1346, 28, "port, outputs first, then inputs"},
                {0x1444, 24, "port, outputs first, then inputs"}};
    mw_hwx *hwx = open_words(24, words_v24_count);
    const mw__hwx_record *records = mw__hwx_task_at(hwx, 0)->records;
    for (size_t i = 0; i < 3; i++) {
        const mw__packet *head = &records[7 + i].head;
        CHECK(head->kind == MW__PACKET_ADDRESS && head->count == 2);
        CHECK_INT(head->address, rows[i].address);
        CHECK_INT(head->bar, rows[i].bar);
        CHECK_STR(mw__packet_bar_name(head->bar), rows[i].name);
    }
    CHECK(mw__packet_bar_name(0) == NULL && mw__packet_bar_name(25) == NULL && mw__packet_bar_name(20) != NULL);
    mw_hwx_destroy(hwx);
}

static void test_masks_name_their_registers(void)
{
    const mw__packet p = mw__packet_read(UINT32_C(1) << 31 | 0x8005u << 15 | 0x40, false);
    static const uint32_t addresses[] = {0x40, 0x41, 0x43, 0x50};
    uint32_t index = 0;
    CHECK_INT(p.count, 4);
    for (uint32_t i = 0; i < 4; i++) {
        CHECK_INT(mw__packet_address(&p, i), addresses[i]);
        CHECK(mw__packet_find(&p, addresses[i], &index) && index == i);
    }
    CHECK(!mw__packet_find(&p, 0x42, &index) && !mw__packet_find(&p, 0x51, &index) &&
          !mw__packet_find(&p, 0x3f, &index));
}

/* Every word that is a packet is written as it was; bits without a meaning are not read over. */
static void test_packet_words_come_back(void)
{
    uint64_t state = 88172645463325252u;
    for (int i = 0; i < 100000; i++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        const uint32_t word = (uint32_t)(state >> 32);
        const mw__packet p = mw__packet_read(word, false);
        const bool reserved = (word >> 29 & 7) == 3; /* an address has no bit 30 */
        CHECK((mw__packet_word(&p) == word) == !reserved);
    }
}

static void test_words_are_shown_and_come_back(void)
{
    mw_error err = {0};
    void *out = NULL;
    size_t size = 0, events = 0;
    mw_hwx *hwx = open_words(24, words_v24_count);
    char *text = mw_hwx_text(hwx, &err);
    CHECK_CONTAINS(text, "task_version       24");
    CHECK_CONTAINS(text, "ConvCfg            0x5044a0c5  kernel_w 5, kernel_h 3, stride_w 1, stride_h 1, pad_left 2, "
                         "pad_top 1, offset_w 1, offset_h 1");
    CHECK_CONTAINS(text, "header_8           0x48  tsr 0, tde 0, last 1, trace 0, xtde 0, publish 1, kind 0");
    CHECK_CONTAINS(text, "CoeffBaseAddr[3]   0x6000");
    CHECK_CONTAINS(text, "bar_is             kernel");
    char *json = mw_hwx_json(hwx, &err);
    CHECK_CONTAINS(json, "\"MACCfg\": {\"word\": \"0x13c10\", \"mac_operation\": 0, \"bias_row\": 1");
    CHECK(is_json(json));
    CHECK_INT(mw_hwx_write_memory(hwx, &out, &size, &err), MW_OK);
    CHECK_INT(size, 4 * words_v24_count);
    for (size_t i = 0; i < words_v24_count; i++)
        events += hwx_get32((uint8_t *)out + 4 * i) != words_v24[i];
    CHECK_INT(events, 0);
    mw_string_free(out);
    mw_string_free(text);
    mw_string_free(json);
    mw_hwx_destroy(hwx);
}

/* H18G has three, each at a page. */
static void test_chains_are_counted(void)
{
    enum { PAGE = MW__HWX_PAGE / 4, CHAINS = 3 };
    mw_error err = {0};
    uint32_t *words = calloc((size_t)CHAINS * PAGE, sizeof *words);
    REQUIRE(words != NULL);
    for (size_t i = 0; i < CHAINS; i++)
        memcpy(words + i * PAGE, words_v24, words_v24_count * sizeof *words);
    mw_hwx *hwx = mw_hwx_parse_words(words, (size_t)CHAINS * PAGE, 24, NULL, &err);
    CHECK_OK(err);
    for (size_t i = 0; i < 2 * (size_t)CHAINS; i++) {
        const mw_hwx_task *task = mw_hwx_task_at(hwx, i);
        REQUIRE(task != NULL);
        CHECK_INT(task->chain, i / 2);
        CHECK(task->decoded);
    }
    CHECK(mw_hwx_task_at(hwx, 2 * (size_t)CHAINS) == NULL);
    mw_hwx_destroy(hwx);
    free(words);
}

/* ---- versions ---- */

static void test_versions_are_in_order_and_say_what_is_known(void)
{
    const mw_hwx_version *row, *before = NULL;
    size_t count = 0;
    for (; (row = mw_hwx_version_at(count)) != NULL; before = row, count++) {
        CHECK(before == NULL || row->subtype > before->subtype);
        CHECK(row->known[0] != '\0' && row->targets[0] != '\0' && row->version >= 4 && row->version <= 36);
        CHECK_STR(mw__version_of_subtype(row->subtype)->public.targets, row->targets);
    }
    CHECK_INT(count, 16);
    CHECK(mw__version_of_subtype(13) == NULL && mw__version_named(25) == NULL);
    CHECK_INT(mw__version_of_subtype(11)->public.version, 24);
    CHECK_INT(mw__version_of_subtype(9)->public.version, 19);
}

/* Files of every subtype open, come back, and say what is not known of them. */
static void test_files_of_every_subtype(void)
{
    static hwx_made made;
    for (unsigned subtype = 0; subtype < 40; subtype++) {
        mw_error err = {0};
        void *out = NULL;
        size_t size = 0;
        if (subtype == 4)
            continue;
        hwx_make(&made, (hwx_style){subtype == 0 ? 1 : subtype, true, true});
        hwx_put32(made.bytes + 8, subtype);
        mw_hwx *hwx = mw_hwx_parse(made.bytes, made.size, NULL, &err);
        char *text = mw_hwx_text(hwx, &err);
        const mw__version_row *row = mw__version_of_subtype(subtype);
        REQUIRE(CHECK_OK(err) && CHECK(text != NULL));
        CHECK_CONTAINS(text, row != NULL ? row->public.known : "no source names this subtype");
        CHECK((mw_hwx_task_at(hwx, 0) != NULL) == (row != NULL && row->header > 0));
        CHECK(row != NULL && row->header > 0 ? strstr(text, "no_tasks") == NULL : strstr(text, "no_tasks") != NULL);
        mw_hwx_write_memory(hwx, &out, &size, &err);
        CHECK(size == made.size && memcmp(out, made.bytes, size) == 0);
        mw_string_free(out);
        mw_string_free(text);
        mw_hwx_destroy(hwx);
    }
}

/* H16 to H18 are known to have the word of the kernel, and no more. */
static void test_a_version_known_in_part(void)
{
    mw_error err = {0};
    mw_hwx *hwx = open_words(19, words_v24_count);
    char *text = mw_hwx_text(hwx, &err), operation[96];
    CHECK_CONTAINS(text, "ConvCfg            0x5044a0c5  kernel_w 5");
    CHECK_CONTAINS(text, "common[0x0005]     0x28\n");
    CHECK_CONTAINS(text, "neural[0x1240]     0x82\n");
    CHECK_CONTAINS(text, "bar_is             not published");
    CHECK(strstr(text, "header_0") == NULL && strstr(text, "Wout") == NULL);
    mw__hwx_operation(hwx, 0, operation);
    CHECK_STR(operation, "");
    mw_string_free(text);
    mw_hwx_destroy(hwx);
}

static void test_versions_that_are_not_read(void)
{
    static const struct {
        uint32_t version;
        mw_status status;
        const char *part;
    } rows[] = {{25, MW_ERROR_ARGUMENT, "no source names version 25"},
                {0, MW_ERROR_ARGUMENT, "no source names version 0"},
                {36, MW_ERROR_UNSUPPORTED, "version 36 (no target yet): how tasks are written is not published"},
                {7, MW_ERROR_UNSUPPORTED, "the length of its first task"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        mw_error err = {0};
        CHECK(mw_hwx_parse_words(words_v24, words_v24_count, rows[i].version, NULL, &err) == NULL);
        CHECK_ERROR(err, rows[i].status, rows[i].part);
    }
    mw_error err = {0};
    CHECK(mw_hwx_parse_words(NULL, 0, 24, NULL, &err) == NULL && err.status == MW_ERROR_ARGUMENT);
}

/* ---- words that lie ---- */

static void use_words(const uint32_t *words, size_t count, uint32_t version)
{
    metered_bytes m = {0};
    const mw_allocator allocator = metered_allocator(&m);
    mw_error err = {0};
    void *out = NULL;
    size_t size = 0;
    uint32_t *exact = malloc(count * 4 + 1); /* so that a sanitizer sees what is read behind it */
    memcpy(exact, words, count * 4);
    mw_hwx *hwx = mw_hwx_parse_words(exact, count, version, &allocator, &err);
    REQUIRE(CHECK_OK(err) && CHECK(hwx != NULL));
    char *text = mw_hwx_text(hwx, &err), *json = mw_hwx_json(hwx, &err);
    mw_hwx_write_memory(hwx, &out, &size, &err);
    CHECK_OK(err);
    CHECK(size == 4 * count && (count == 0 || hwx_get32(out) == exact[0]));
    const size_t most = 64 * size + 65536;
    check_note(m.most <= 16 * size + 65536 && strlen(text) <= most && strlen(json) <= most, __FILE__, __LINE__,
               "%zu bytes: memory %zu, text %zu, JSON %zu", size, m.most, strlen(text), strlen(json));
    CHECK(is_json(json));
    mw_string_free(out);
    mw_string_free(text);
    mw_string_free(json);
    mw_hwx_destroy(hwx);
    CHECK_INT(m.now, 0);
    free(exact);
}

static void test_words_of_every_length(void)
{
    for (size_t count = 0; count <= words_v24_count; count++) {
        use_words(words_v24, count, 24);
        mw_hwx *hwx = open_words(24, count);
        for (size_t i = 0; mw_hwx_task_at(hwx, i) != NULL; i++) {
            const mw_hwx_task *task = mw_hwx_task_at(hwx, i);
            const size_t whole = i == 0 ? WORDS_V24_FIRST_COUNT : WORDS_V24_SECOND_COUNT;
            CHECK(task->decoded == (task->word_count == whole));
            CHECK(task->decoded || strcmp(task->note, "the words end before the task does") == 0);
            CHECK_INT(task->word_count + mw__hwx_task_at(hwx, i)->missing, whole);
        }
        mw_hwx_destroy(hwx);
    }
}

static void test_words_at_random(void)
{
    enum { COUNT = 200 };
    uint32_t words[COUNT];
    uint64_t state = 2463534242u;
    const int rounds = getenv("MW_NIGHTLY") != NULL ? 50000 : 1500;
    static const uint32_t versions[] = {24, 24, 20, 17, 8, 11};
    for (int round = 0; round < rounds; round++) {
        for (size_t i = 0; i < COUNT; i++) {
            state = state * 6364136223846793005u + 1442695040888963407u;
            words[i] = (uint32_t)(state >> 32) >> (state >> 24 & 31);
        }
        if (round % 2 == 0) { /* few wrong words in good ones */
            const uint32_t wrong = words[0];
            memcpy(words, words_v24, words_v24_count * sizeof *words);
            words[words[COUNT - 1] % words_v24_count] = wrong;
        }
        use_words(words, COUNT, versions[round % 6]);
    }
}

/* The smallest parts, a great many of them: tasks of a header alone, packets of one word with most fields. */
static void test_many_small_parts(void)
{
    enum { COUNT = 1 << 16 };
    static const uint32_t packets[] = {0x000a, 0x1242, 0x000f, 0x80000000u | 0x1348, 0x20000000u | 24 << 21 | 0x1444};
    uint32_t *words = calloc(COUNT, sizeof *words);
    REQUIRE(words != NULL);
    for (size_t i = 0; i + 12 <= COUNT; i += 12)
        words[i] = 9u << 16;
    use_words(words, COUNT, 24);
    for (size_t p = 0; p < sizeof packets / sizeof *packets; p++) {
        for (size_t i = 0; i < COUNT; i++)
            words[i] = i % 2048 == 0 ? 2047u << 16 : i % 2048 < 9 ? 0 : i % 2 == 1 ? packets[p] : UINT32_MAX;
        use_words(words, COUNT, 24);
    }
    free(words);
}

static void test_packets_that_lie(void)
{
    static const struct {
        size_t word;
        uint32_t value;
        const char *note;
    } rows[] = {{13, 0x7fff8000u & ~(1u << 29), "more values than are left"},
                {13, 0xffff8000u, NULL},
                {13, 0x60000001u, "begins with a word that is no packet"},
                {13, 0x20000000u | 63u << 15 | 1, "more values than are left"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        uint32_t words[128];
        mw_error err = {0};
        memcpy(words, words_v24, words_v24_count * sizeof *words);
        words[rows[i].word] = rows[i].value;
        mw_hwx *hwx = mw_hwx_parse_words(words, words_v24_count, 24, NULL, &err);
        const mw_hwx_task *task = mw_hwx_task_at(hwx, 0);
        REQUIRE(task != NULL);
        if (rows[i].note != NULL) {
            CHECK(!task->decoded && task->record_count == 0);
            CHECK_CONTAINS(task->note, rows[i].note);
        }
        CHECK(mw_hwx_task_at(hwx, 1) != NULL && mw_hwx_task_at(hwx, 1)->decoded); /* the others are read all the same */
        mw_hwx_destroy(hwx);
        use_words(words, words_v24_count, 24);
    }
}

static void test_each_allocation_may_fail(void)
{
    for (long n = 0; n < 100; n++) {
        failing_allocator failing = {.fail_at = n};
        mw_allocator allocator = failing_allocator_of(&failing);
        mw_error err = {0};
        mw_hwx *hwx = mw_hwx_parse_words(words_v24, words_v24_count, 24, &allocator, &err);
        CHECK(failing.failed == (hwx == NULL));
        CHECK(hwx != NULL || err.status == MW_ERROR_MEMORY);
        mw_hwx_destroy(hwx);
        CHECK_INT(failing.live, 0);
        if (!failing.failed)
            return;
    }
    CHECK(false);
}

int main(void)
{
    RUN(test_tasks_and_packets_are_found);
    RUN(test_fields_of_a_convolution);
    RUN(test_addresses_have_their_bar);
    RUN(test_masks_name_their_registers);
    RUN(test_packet_words_come_back);
    RUN(test_words_are_shown_and_come_back);
    RUN(test_chains_are_counted);
    RUN(test_versions_are_in_order_and_say_what_is_known);
    RUN(test_files_of_every_subtype);
    RUN(test_a_version_known_in_part);
    RUN(test_versions_that_are_not_read);
    RUN(test_words_of_every_length);
    RUN(test_words_at_random);
    RUN(test_many_small_parts);
    RUN(test_packets_that_lie);
    RUN(test_each_allocation_may_fail);
    return check_finish();
}
