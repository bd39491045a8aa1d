/* The compile cache within one process: what a compilation is known by, what force_.. do, damage, bounds, purging. */
#include "base/file/file.h"
#include "cache_case.h"
#include "engine/cache/normal.h"
#include "engine/core/object.h"
#include "support/check.h"
#include "support/failing.h"
#include "support/folder.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

static void begin(void)
{
    cache_forget();
    folder_empty(".");
    cache_put_model("model", NULL, HALF_ONE);
}

/* ---- texts ---- */

static bool same_normal(const char *a, const char *b)
{
    mw__text left, right;
    mw__text_init(&left, NULL);
    mw__text_init(&right, NULL);
    mw__cache_normal_append(&left, a, strlen(a));
    mw__cache_normal_append(&right, b, strlen(b));
    const bool same = left.size == right.size && (left.size == 0 || memcmp(left.data, right.data, left.size) == 0);
    mw__text_deinit(&left);
    mw__text_deinit(&right);
    return same;
}

static void test_texts_of_the_same_tokens_have_one_normal_form(void)
{
    static const char *const same[][2] = {
        {"a = b", "a=b"},
        {"  a\n\t= b ", "a=b"},
        {"a // comment\n= b", "a = b"},
        {"f(x, y)", "f ( x ,y )"},
        {"} -> (y)", "}->(y)"},
        {"program(1.3)\n[buildInfo = dict<string, string>({{\"a\", \"b]\"}})]\n{}", "program(1.3)[]{}"},
        {"program(1.3)[buildInfo = x(1), c = d]{}", "program(1.3)[c = d]{}"},
        {"program(1.3)[c = d, buildInfo = x(\"\\\"],\")]{}", "program(1.3)[c = d,]{}"},
    };
    static const char *const different[][2] = {
        {"a b", "ab"},
        {"- 5", "-5"},
        {"- >", "->"},
        {"1 2", "12"},
        {"\"a b\"", "\"ab\""},
        {"\"a // b\"", "\"a\""},
        {"\"a\\\" b\"", "\"a\\\"b\""},
        {"a // \x01\x80\n", "a"},
        {"a / / b\n", "a // b\n"},
        {"\"open a", "\"open  a"},
        {"{[buildInfo = a]}", "{[buildInfo = b]}"},
        {"program(1.3)[c = buildInfo, d = 1]{}", "program(1.3)[c = buildInfo, d = 2]{}"},
        {"x<y", "x>y"},
    };
    for (size_t i = 0; i < sizeof same / sizeof *same; i++)
        check_note(same_normal(same[i][0], same[i][1]), __FILE__, __LINE__, "%s and %s", same[i][0], same[i][1]);
    for (size_t i = 0; i < sizeof different / sizeof *different; i++)
        check_note(!same_normal(different[i][0], different[i][1]), __FILE__, __LINE__, "%s and %s", different[i][0],
                   different[i][1]);
}

/* ---- hits and misses ---- */

static void test_the_second_compilation_is_a_hit(void)
{
    begin();
    const cache_case c = CACHE_CASE;
    CHECK_INT(cache_required(&c), 1);
    CHECK_INT(cache_entries("cache"), 0);
    CHECK_INT(cache_result(&c), HALF_TWO);
    CHECK_INT(cache_required(&c), 0);
    CHECK_INT(cache_entries("cache"), 1);
    CHECK_INT(cache_result(&c), HALF_TWO); /* shared */
    cache_forget();
    CHECK_INT(cache_required(&c), 0);
    CHECK_INT(cache_result(&c), HALF_TWO); /* from the disk */
    CHECK_INT(cache_entries("cache"), 1);
}

static void test_within_a_process_a_library_is_shared(void)
{
    begin();
    const cache_case c = CACHE_CASE;
    cache_case other = c;
    other.location = "another";
    void *first = NULL, *second = NULL, *third = NULL;
    const char *names[3];
    REQUIRE(cache_compile(&c, &first) == 0 && cache_compile(&c, &second) == 0 && cache_compile(&other, &third) == 0);
    CHECK(first != second); /* handles of their own */
    CHECK_INT(e5rt_program_library_get_e5_bundle_path(first, &names[0]), 0);
    CHECK_INT(e5rt_program_library_get_e5_bundle_path(second, &names[1]), 0);
    CHECK_INT(e5rt_program_library_get_e5_bundle_path(third, &names[2]), 0);
    CHECK(names[0] == names[1]); /* and one library */
    CHECK(names[0] != names[2]);
    e5rt_program_library_release(&first);
    CHECK_INT(cache_run(second), HALF_TWO);
    CHECK_INT(cache_run(third), HALF_TWO);
}

static void test_a_bundle_that_is_gone_is_written_again(void)
{
    begin();
    char bundle[1024];
    struct stat status;
    const cache_case c = CACHE_CASE;
    void *held = NULL;
    REQUIRE(cache_compile(&c, &held) == 0);
    folder_empty("cache");
    CHECK_INT(cache_entries("cache"), 0);
    cache_bundle(&c, bundle, sizeof bundle);
    CHECK(stat(bundle, &status) == 0 && S_ISDIR(status.st_mode));
    e5rt_program_library_release(&held);
}

/* Replaces the first `from` of the text. */
static const char *replaced(const char *from, const char *to)
{
    static char text[2048];
    const char *at = strstr(cache_text, from);
    snprintf(text, sizeof text, "%.*s%s%s", (int)(at - cache_text), cache_text, to, at + strlen(from));
    return text;
}

static void test_what_a_program_does_not_depend_on_is_a_hit(void)
{
    begin();
    const cache_case c = CACHE_CASE;
    REQUIRE(cache_fill(&c, __LINE__));
    cache_forget();
    cache_case other = c;
    other.path = "elsewhere";
    cache_put_model("elsewhere", NULL, HALF_ONE);
    CHECK_INT(cache_required(&other), 0);
    cache_put_model("elsewhere", replaced("\"1\"", "\"another version\""), HALF_ONE);
    CHECK_INT(cache_required(&other), 0);
    cache_put_model("elsewhere", replaced("\n    func", " // a comment\n\n  func"), HALF_ONE);
    CHECK_INT(cache_required(&other), 0);
    other.path = "elsewhere/model.mil";
    CHECK_INT(cache_required(&other), 0);
    other.owned = true;
    CHECK_INT(cache_required(&other), 0);
    CHECK(rename("elsewhere/weights/weight.bin", "elsewhere/other.bin") == 0);
    folder_put("elsewhere/model.mil", replaced("weights/weight.bin", "other.bin"));
    CHECK_INT(cache_required(&other), 0);
    CHECK_INT(cache_result(&other), HALF_TWO);
    CHECK_INT(cache_entries("cache"), 1);
}

/* Each differs from what is stored in one thing. */
static void test_whatever_a_program_depends_on_is_a_miss(void)
{
    begin();
    const cache_case c = CACHE_CASE;
    REQUIRE(cache_fill(&c, __LINE__));
    cache_put_model("weights", NULL, HALF_TWO);
    cache_put_model("text", replaced("y = add", "y = mul"), HALF_ONE);
    cache_put_model("renamed", replaced("\"y\"", "\"z\""), HALF_ONE);
    const struct {
        const char *what;
        cache_case changed;
    } cases[] = {
        {"weights", {.location = "cache", .path = "weights"}},
        {"text", {.location = "cache", .path = "text"}},
        {"a name", {.location = "cache", .path = "renamed"}},
        {"mask 4", {.location = "cache", .path = "model", .mask = E5RT_ANE}},
        {"mask 3", {.location = "cache", .path = "model", .mask = 3}},
        {"threads", {.location = "cache", .path = "model", .threads = 2}},
        {"segmenter", {.location = "cache", .path = "model", .segmenter = "graph"}},
        {"custom options", {.location = "cache", .path = "model", .custom = "TargetArchitecture=h13g"}},
        {"an option", {.location = "cache", .path = "model", .profiling = true}},
        {"an entry point", {.location = "cache", .path = "model", .entry_point = "main"}},
        {"fusion", {.location = "cache", .path = "model", .variable = "MW_ENGINE_FUSE", .value = "0"}},
        {"reference", {.location = "cache", .path = "model", .variable = "MW_ENGINE_REF", .value = "1"}},
        {"vectors", {.location = "cache", .path = "model", .variable = "MW_ENGINE_WIDE", .value = "0"}},
        {"wake", {.location = "cache", .path = "model", .variable = "MW_ENGINE_WAKE", .value = "1"}},
        {"pack", {.location = "cache", .path = "model", .variable = "MW_ENGINE_PACK", .value = "1"}},
        {"profile", {.location = "cache", .path = "model", .variable = "MW_ENGINE_PROFILE", .value = "h13"}},
        {"a limit", {.location = "cache", .path = "model", .variable = "MW_ENGINE_LOADED", .value = "none"}},
        {"subnormals", {.location = "cache", .path = "model", .variable = "MW_ENGINE_SUBNORMALS", .value = "flushed"}},
        {"streams", {.location = "cache", .path = "model", .variable = "MW_ENGINE_STREAMS", .value = "unsound"}},
        {"BLAS", {.location = "cache", .path = "model", .variable = "MW_BLAS", .value = "none"}},
        {"another cache", {.location = "cache2", .path = "model"}},
        {"no cache", {.path = "model"}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        check_note(cache_required(&cases[i].changed) == 1, __FILE__, __LINE__, "%s: a hit", cases[i].what);
        cache_case fetch = cases[i].changed;
        fetch.force_fetch = true;
        void *library = NULL;
        check_note(cache_compile(&fetch, &library) != 0, __FILE__, __LINE__, "%s: fetched", cases[i].what);
    }
    CHECK_INT(cache_required(&c), 0);
}

static void test_changed_weights_of_one_file_are_another_program(void)
{
    begin();
    const cache_case c = CACHE_CASE;
    CHECK_INT(cache_result(&c), HALF_TWO);
    cache_put_model("model", NULL, HALF_TWO);
    CHECK_INT(cache_result(&c), HALF_THREE);
    cache_put_model("model", NULL, HALF_ONE);
    CHECK_INT(cache_result(&c), HALF_TWO);
    CHECK_INT(cache_entries("cache"), 2);
}

/* ---- force ---- */

static void test_forced_fetch_takes_only_what_is_there(void)
{
    begin();
    cache_case c = CACHE_CASE;
    void *library = NULL;
    c.force_fetch = true;
    CHECK_INT(cache_compile(&c, &library), E5RT_INVALID_ARGUMENT);
    CHECK_CONTAINS(cache_message(), "the cache has no bundle of \"model\"");
    c.location = NULL;
    CHECK_INT(cache_compile(&c, &library), E5RT_INVALID_ARGUMENT);
    CHECK_CONTAINS(cache_message(), "no cache folder is set");
    c = CACHE_CASE;
    REQUIRE(cache_fill(&c, __LINE__));
    c.force_fetch = true;
    CHECK_INT(cache_result(&c), HALF_TWO);
    cache_forget();
    CHECK_INT(cache_result(&c), HALF_TWO);
    c.force_new = true;
    CHECK_INT(cache_compile(&c, &library), E5RT_INVALID_ARGUMENT);
    CHECK_CONTAINS(cache_message(), "both set");
}

static uint64_t node_of(const char *bundle)
{
    char path[1100];
    struct stat status;
    snprintf(path, sizeof path, "%s/entry", bundle);
    return stat(path, &status) == 0 ? (uint64_t)status.st_ino : 0;
}

static void test_forced_recompilation_writes_the_bundle_anew(void)
{
    begin();
    char bundle[1024], path[1100];
    cache_case c = CACHE_CASE;
    cache_bundle(&c, bundle, sizeof bundle);
    snprintf(path, sizeof path, "%s/stray", bundle);
    folder_put(path, "what is left of another writer");
    c.force_new = true;
    CHECK_INT(cache_required(&c), 1);
    CHECK_INT(cache_result(&c), HALF_TWO);
    CHECK(node_of(bundle) != 0);
    CHECK(access(path, F_OK) != 0);
    c.force_new = false;
    CHECK_INT(cache_required(&c), 0);
}

/* ---- damage ---- */

static char *read_all(const char *path, size_t *size)
{
    FILE *in = fopen(path, "rb");
    char *bytes = malloc(1 << 20);
    *size = in != NULL && bytes != NULL ? fread(bytes, 1, 1 << 20, in) : 0;
    if (in != NULL)
        fclose(in);
    return bytes;
}

static void write_all(const char *path, const char *bytes, size_t size)
{
    unlink(path); /* the text has two names */
    FILE *out = fopen(path, "wb");
    CHECK(out != NULL && fwrite(bytes, 1, size, out) == size);
    if (out != NULL)
        fclose(out);
}

/* The entry as it is on the disk now is taken for none, and mended by compiling. */
static void check_recompiled(const char *bundle, const char *what, size_t at)
{
    const cache_case c = CACHE_CASE;
    void *opened = NULL;
    cache_forget();
    check_note(cache_required(&c) == 1, __FILE__, __LINE__, "%s, byte %zu: a hit", what, at);
    check_note(e5rt_program_library_create(&opened, bundle) != 0, __FILE__, __LINE__, "%s, byte %zu: opened", what, at);
    check_note(cache_result(&c) == HALF_TWO, __FILE__, __LINE__, "%s, byte %zu: result", what, at);
    cache_forget();
    check_note(cache_required(&c) == 0, __FILE__, __LINE__, "%s, byte %zu: not mended", what, at);
}

static void damage_file(const char *bundle, const char *name, size_t step)
{
    char path[1100];
    size_t size;
    snprintf(path, sizeof path, "%s/%s", bundle, name);
    char *bytes = read_all(path, &size);
    REQUIRE(bytes != NULL && size > 0);
    for (size_t at = 0; at < size; at += at + 1 < size && at + step >= size ? size - 1 - at : step) {
        const char old = bytes[at];
        bytes[at] = (char)(old ^ (char)(1u << at % 8));
        write_all(path, bytes, size);
        bytes[at] = old;
        check_recompiled(bundle, name, at);
        if (at % 4 == 0) {
            write_all(path, bytes, at);
            check_recompiled(bundle, "cut", at);
        }
    }
    write_all(path, bytes, size);
    FILE *longer = fopen(path, "ab");
    REQUIRE(longer != NULL);
    fputc('\n', longer);
    fclose(longer);
    check_recompiled(bundle, "longer", size);
    unlink(path);
    check_recompiled(bundle, "missing", 0);
    free(bytes);
}

static void test_a_damaged_entry_is_compiled_again(void)
{
    begin();
    char bundle[1024];
    const cache_case c = CACHE_CASE;
    cache_bundle(&c, bundle, sizeof bundle);
    REQUIRE(bundle[0] != '\0');
    damage_file(bundle, "entry", 1 + (getenv("MW_NIGHTLY") == NULL) * 6);
    damage_file(bundle, "model.mil", 61);
    damage_file(bundle, "analytics.mil", 97);
    damage_file(bundle, "weights/weight.bin", 5);
}

static void test_an_entry_of_another_key_is_none(void)
{
    begin();
    char one[1024], other[1024];
    cache_case c = CACHE_CASE, ref = CACHE_CASE;
    ref.variable = "MW_ENGINE_FUSE";
    ref.value = "0";
    cache_bundle(&c, one, sizeof one);
    cache_bundle(&ref, other, sizeof other);
    cache_forget();
    folder_empty(one);
    rmdir(one);
    CHECK(rename(other, one) == 0); /* whole, but of other options */
    CHECK_INT(cache_required(&c), 1);
    CHECK_INT(cache_required(&ref), 1);
    CHECK_INT(cache_result(&c), HALF_TWO);
}

static void test_strange_things_in_the_place_of_an_entry(void)
{
    begin();
    char bundle[1024], path[1100];
    const cache_case c = CACHE_CASE;
    cache_bundle(&c, bundle, sizeof bundle);
    snprintf(path, sizeof path, "%s/entry", bundle);
    for (int i = 0; i < 3; i++) {
        cache_forget();
        unlink(path);
        if (i == 0)
            CHECK(mkdir(path, 0777) == 0); /* a folder cannot be replaced: nothing is stored, the program runs */
        else
            CHECK((i == 1 ? mkfifo(path, 0666) : symlink("entry", path)) == 0);
        CHECK_INT(cache_required(&c), 1);
        CHECK_INT(cache_result(&c), HALF_TWO);
        rmdir(path);
    }
}

/* ---- a folder that cannot be used ---- */

static void test_a_cache_that_cannot_be_written_stores_nothing(void)
{
    begin();
    const char *path = NULL;
    void *library = NULL;
    cache_case c = CACHE_CASE;
    folder_put("file", "");
    c.location = "file";
    CHECK_INT(cache_compile(&c, &library), 0);
    CHECK_INT(e5rt_program_library_get_e5_bundle_path(library, &path), E5RT_INVALID_OPERATION);
    CHECK_CONTAINS(e5rt_get_last_error_message(), "has no bundle");
    CHECK_INT(cache_run(library), HALF_TWO);
    CHECK_INT(cache_required(&c), 1);
    c.location = NULL;
    CHECK_INT(cache_result(&c), HALF_TWO);
    c.path = "nothing";
    CHECK_INT(cache_compile(&c, &library), E5RT_INVALID_ARGUMENT);
    c.location = "cache";
    CHECK_INT(cache_compile(&c, &library), E5RT_INVALID_ARGUMENT);
    CHECK_CONTAINS(cache_message(), "Invalid path");
}

static mw__file_calls calls_without_time;
static long paused_ms;

static char logged[1024];

static void count_pause(long milliseconds) { paused_ms += milliseconds; }

static void keep_line(void *user, mw_log_level level, const char *line)
{
    (void)user;
    if (level == MW_LOG_WARNING)
        snprintf(logged, sizeof logged, "%s", line);
}

/* As a writer that was stopped, or a file server whose client is gone, holds it. */
static int hold_lock(const char *path)
{
    const int held = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    CHECK(held >= 0 && flock(held, LOCK_EX | LOCK_NB) == 0);
    return held;
}

static void test_a_lock_that_is_held_for_ever_ends_in_a_result_without_the_cache(void)
{
    begin();
    const cache_case c = CACHE_CASE;
    CHECK(mkdir("cache", 0777) == 0);
    const int held = hold_lock("cache/lock");
    calls_without_time = mw__file_real_calls;
    calls_without_time.pause = count_pause;
    paused_ms = 0;
    mw__file_set_calls(&calls_without_time);
    mw_log_set(keep_line, NULL);
    CHECK_INT(cache_result(&c), HALF_TWO);
    mw_log_set(NULL, NULL);
    mw__file_set_calls(NULL);
    CHECK(paused_ms >= 1000 && paused_ms <= 10000);
    CHECK_CONTAINS(logged, "is not stored: another process has held the lock");
    CHECK_CONTAINS(logged, "/cache/lock\" for 5 s");
    CHECK_INT(cache_entries("cache"), 0);
    close(held);
    REQUIRE(cache_fill(&c, __LINE__));
    CHECK_INT(cache_entries("cache"), 1);
}

static void test_a_program_that_fails_is_not_stored(void)
{
    begin();
    void *library = NULL;
    const cache_case c = CACHE_CASE;
    cache_put_model("model", replaced("add(", "no_such_operation("), HALF_ONE);
    CHECK(cache_compile(&c, &library) != 0);
    CHECK_INT(cache_required(&c), 1);
    cache_put_model("model", replaced("weight.bin", "missing.bin"), HALF_ONE);
    CHECK(cache_compile(&c, &library) != 0);
    CHECK_CONTAINS(cache_message(), "missing.bin");
    CHECK_INT(cache_required(&c), 1);
    CHECK_INT(cache_entries("cache"), 0);
}

/* ---- bounds ---- */

/* A program for each number. */
static bool fill_numbered(int number, const char *variable, const char *value)
{
    cache_case c = CACHE_CASE;
    cache_put_model("model", NULL, (uint16_t)(HALF_ONE + number));
    c.variable = variable;
    c.value = value;
    return cache_fill(&c, __LINE__);
}

static int is_there(int number, const char *variable, const char *value)
{
    cache_case c = CACHE_CASE;
    cache_put_model("model", NULL, (uint16_t)(HALF_ONE + number));
    c.variable = variable;
    c.value = value;
    cache_forget();
    return cache_required(&c) == 0;
}

static void wait_a_tick(void) { usleep(20000); } /* of the clock of files */

static void test_the_least_recently_used_goes(void)
{
    begin();
    static const char name[] = "MW_ENGINE_CACHE_ENTRIES";
    for (int i = 0; i < 3; i++) {
        REQUIRE(fill_numbered(i, name, "3"));
        wait_a_tick();
    }
    CHECK_INT(cache_entries("cache"), 3);
    REQUIRE(fill_numbered(0, name, "3")); /* a hit */
    wait_a_tick();
    cache_forget();
    REQUIRE(fill_numbered(1, name, "3")); /* a hit on the disk */
    wait_a_tick();
    REQUIRE(fill_numbered(7, name, "3"));
    CHECK_INT(cache_entries("cache"), 3);
    CHECK(is_there(0, name, "3") && is_there(1, name, "3") && is_there(7, name, "3") && !is_there(2, name, "3"));
}

static void test_the_bytes_are_bounded(void)
{
    begin();
    static const char name[] = "MW_ENGINE_CACHE_BYTES";
    for (int i = 0; i < 6; i++) { /* each takes between 1 and 4 kB */
        REQUIRE(fill_numbered(i, name, "8000"));
        wait_a_tick();
    }
    const int count = cache_entries("cache");
    CHECK(count >= 1 && count < 6);
    CHECK(is_there(5, name, "8000") && !is_there(0, name, "8000"));
    begin();
    REQUIRE(fill_numbered(0, name, "1000")); /* too large for all of it */
    CHECK(!is_there(0, name, "1000"));
    CHECK_INT(cache_entries("cache"), 0);
    REQUIRE(fill_numbered(0, name, "0"));
    CHECK_INT(cache_entries("cache"), 0);
}

static void test_builds_of_the_past_go_with_time(void)
{
    begin();
    static const char name[] = "MW_ENGINE_CACHE_ENTRIES";
    CHECK(mkdir("cache", 0777) == 0 && mkdir("cache/millwright-0.0.1-old", 0777) == 0);
    CHECK(mkdir("cache/millwright-0.0.1-old/0123456789012345678901234567890123456789012345678901234567890123", 0777) ==
          0);
    CHECK(mkdir("cache/mine", 0777) == 0);
    folder_put("cache/mine/file", "of the user");
    REQUIRE(fill_numbered(0, name, "3"));
    CHECK(access("cache/millwright-0.0.1-old", F_OK) != 0);
    CHECK(folder_holds("cache/mine/file", "of the user"));
}

/* ---- purging ---- */

static e5rt_error_code purge(const char *location, const char *path)
{
    void *config = NULL, *compiler = NULL;
    CHECK_INT(e5rt_e5_compiler_config_options_create(&config), 0);
    if (location != NULL)
        CHECK_INT(e5rt_e5_compiler_config_options_set_cache_bundle_location(config, location), 0);
    CHECK_INT(e5rt_e5_compiler_create_with_config(&compiler, config), 0);
    const e5rt_error_code code = e5rt_e5_compiler_purge_e5_bundles_for_input_model(&compiler, path);
    e5rt_e5_compiler_release(&compiler);
    e5rt_e5_compiler_config_options_release(&config);
    return code;
}

static void test_purging_removes_a_model_with_all_its_options(void)
{
    begin();
    cache_case c = CACHE_CASE, ane = CACHE_CASE, other = CACHE_CASE;
    ane.mask = E5RT_ANE;
    other.path = "other";
    cache_put_model("other", NULL, HALF_TWO);
    void *held = NULL;
    REQUIRE(cache_fill(&c, __LINE__) && cache_fill(&ane, __LINE__) && cache_fill(&other, __LINE__));
    REQUIRE(cache_compile(&c, &held) == 0);
    CHECK_INT(purge("cache", "model"), 0); /* also of what this process shares */
    CHECK(cache_required(&c) == 1 && cache_required(&ane) == 1 && cache_required(&other) == 0);
    CHECK_INT(cache_run(held), HALF_TWO);
    CHECK_INT(purge("cache", "model"), 0);
    CHECK_INT(purge(NULL, "model"), 0);
    CHECK_INT(purge("nowhere", "model"), 0);
    CHECK_INT(purge("cache", "nothing"), E5RT_INVALID_ARGUMENT);
    CHECK_INT(e5rt_e5_compiler_purge_e5_bundles_for_input_model(NULL, "model"), E5RT_INVALID_ARGUMENT);
}

/* ---- private folders ---- */

static void test_a_private_folder_may_go_after_a_hit(void)
{
    begin();
    cache_case c = CACHE_CASE, mapped = CACHE_CASE;
    mapped.path = "private";
    mapped.owned = true;
    cache_put_model("private", NULL, HALF_ONE);
    void *first = NULL, *second = NULL, *third = NULL;
    REQUIRE(cache_compile(&mapped, &first) == 0 && cache_compile(&mapped, &second) == 0);
    folder_empty("private");
    REQUIRE(cache_compile(&c, &third) == 0); /* shares what was mapped */
    cache_put_model("model", NULL, HALF_TWO);
    CHECK_INT(cache_run(first), HALF_TWO);
    CHECK_INT(cache_run(second), HALF_TWO);
    CHECK_INT(cache_run(third), HALF_TWO);
}

/* ---- memory ---- */

static void test_every_allocation_may_fail(void)
{
    const cache_case c = CACHE_CASE;
    for (int stored = 0; stored < 2; stored++) {
        begin();
        if (stored)
            REQUIRE(cache_fill(&c, __LINE__));
        for (long n = 0;; n++) {
            cache_forget();
            if (!stored)
                folder_empty("cache");
            failing_allocator failing = {.fail_at = n};
            const mw_allocator allocator = failing_allocator_of(&failing);
            mw__engine_set_allocator(allocator);
            void *library = NULL;
            const e5rt_error_code code = cache_compile(&c, &library);
            if (library != NULL)
                e5rt_program_library_release(&library);
            mw__engine_set_allocator((mw_allocator){0});
            CHECK_INT(failing.live, 0);
            if (!CHECK(failing.failed || code == 0) || !failing.failed)
                break;
        }
        cache_forget();
        CHECK_INT(cache_required(&c), 0);
    }
}

int main(void)
{
    char folder[512];
    if (!folder_enter(folder))
        return 1;
    RUN(test_texts_of_the_same_tokens_have_one_normal_form);
    RUN(test_the_second_compilation_is_a_hit);
    RUN(test_within_a_process_a_library_is_shared);
    RUN(test_a_bundle_that_is_gone_is_written_again);
    RUN(test_what_a_program_does_not_depend_on_is_a_hit);
    RUN(test_whatever_a_program_depends_on_is_a_miss);
    RUN(test_changed_weights_of_one_file_are_another_program);
    RUN(test_forced_fetch_takes_only_what_is_there);
    RUN(test_forced_recompilation_writes_the_bundle_anew);
    RUN(test_a_damaged_entry_is_compiled_again);
    RUN(test_an_entry_of_another_key_is_none);
    RUN(test_strange_things_in_the_place_of_an_entry);
    RUN(test_a_cache_that_cannot_be_written_stores_nothing);
    RUN(test_a_lock_that_is_held_for_ever_ends_in_a_result_without_the_cache);
    RUN(test_a_program_that_fails_is_not_stored);
    RUN(test_the_least_recently_used_goes);
    RUN(test_the_bytes_are_bounded);
    RUN(test_builds_of_the_past_go_with_time);
    RUN(test_purging_removes_a_model_with_all_its_options);
    RUN(test_a_private_folder_may_go_after_a_hit);
    RUN(test_every_allocation_may_fail);
    cache_forget();
    folder_leave(folder);
    return check_finish();
}
