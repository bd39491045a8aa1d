/* Random calls of all rows of symbols.def, with handles that earlier calls gave, of any kind, live or released: nothing
 * crashes, each failure has a message, and when all handles are gone, all memory is. */
#include "base/file/file.h"
#include "engine/run.h"
#include "support/check.h"
#include "support/failing.h"
#include "symbol_call.h"

#include <stdlib.h>

#if UINTPTR_MAX == UINT64_MAX

enum { POOL = 48, SPARE = 4, ROUNDS = 60, CALLS = 4000 };

typedef struct world {
    uint64_t random;
    void *pool[POOL + SPARE]; /* the last ones are never handles, so that arrays of handles end in them */
    const char *maker[POOL];  /* the row that made it */
    uint64_t answers[SPARE], numbers[SPARE];
    const char *texts[SPARE];
    char path[512];
    long succeeded;
} world;

static uint64_t draw(world *w, uint64_t limit)
{
    w->random ^= w->random << 13;
    w->random ^= w->random >> 7;
    w->random ^= w->random << 17;
    return w->random % limit;
}

/* Waits, calls back, takes what nobody can check, or makes folders. */
static bool is_left_out(size_t row)
{
    static const char *const parts[] = {"set_allocator", "set_thread_hooks", "submit",       "_wait",
                                        "notify",        "bind_dependent",   "future_value", "cache_bundle_location",
                                        "pass_report"};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (strstr(symbol_call_name(row), parts[i]) != NULL)
            return true;
    return false;
}

static const char *draw_text(world *w)
{
    const char *const texts[] = {w->path, w->path,
                                 "main",  "main",
                                 "s",     "s",
                                 "x",     "y",
                                 "other", "graph",
                                 "",      "MW_ENGINE_FUSE",
                                 "0",     "TargetArchitecture=h13"};
    return texts[draw(w, sizeof texts / sizeof *texts)];
}

/* Below SPARE, as some are lengths of arrays, or beyond everything where there is none. */
static uint64_t draw_number(world *w, const argument *arguments, size_t count)
{
    static const uint64_t numbers[] = {0, 1, 1, 2, 3, 4, 16, 64, 64, 4096, UINT64_MAX};
    for (size_t i = 0; i < count; i++)
        if (arguments[i].kind == ARGUMENT_TEXTS || arguments[i].kind == ARGUMENT_NUMBERS ||
            (arguments[i].kind == ARGUMENT_OUT && strncmp(arguments[i].name, "out_", 4) == 0))
            return draw(w, SPARE + 1);
    return numbers[draw(w, sizeof numbers / sizeof *numbers)];
}

/* A part of the name of a row that makes what a parameter of that name takes; "" if it may be anything. */
static const char *maker_of(const char *row, const char *parameter)
{
    static const struct {
        const char *parameter, *row, *maker;
    } makers[] = {{"compiler", "", "e5_compiler_create"},
                  {"config", "", "config_options_create"},
                  {"library", "", "e5_compiler_compile"},
                  {"function", "", "retain_program_function"},
                  {"operation", "", "precompiled_compute_operation"},
                  {"port", "", "put_port"},
                  {"buffer", "", "buffer_object"},
                  {"parent", "buffer", "buffer_object"},
                  {"memory", "", "memory_object"},
                  {"parent", "memory", "memory_object"},
                  {"desc", "operand_desc_retain", "tensor_desc"},
                  {"desc", "operand_desc", "operand_desc"},
                  {"desc", "tensor_desc_create_from", "operand_desc"},
                  {"desc", "", "tensor_desc"},
                  {"dtype", "", "dtype"},
                  {"a", "", "dtype"},
                  {"b", "", "dtype"},
                  {"stream", "", "execution_stream_create"},
                  {"event", "", "async_event"},
                  {"plan", "", "plan_create"},
                  {"options", "e5_compiler_config", "config_options_create"},
                  {"options", "e5_compiler_options", "e5_compiler_options_create"},
                  {"options", "e5_compiler_compile", "e5_compiler_options_create"},
                  {"options", "precompiled", "with_program_function"},
                  {"options", "execution_stream_operation_create", "with_program_function"},
                  {"options", "", "config_options_create"}};
    for (size_t i = 0; i < sizeof makers / sizeof *makers; i++)
        if (strcmp(makers[i].parameter, parameter) == 0 && strstr(row, makers[i].row) != NULL)
            return makers[i].maker;
    return "";
}

/* Mostly of a row that fits: the first such behind a random one. */
static size_t draw_handle(world *w, const char *row, const char *parameter)
{
    const size_t start = draw(w, POOL);
    if (draw(w, 8) == 0)
        return start;
    for (size_t i = start; i < start + POOL; i++)
        if (w->pool[i % POOL] != NULL && strstr(w->maker[i % POOL], maker_of(row, parameter)) != NULL)
            return i % POOL;
    return start;
}

static uint64_t draw_argument(world *w, const char *row, const argument *arguments, size_t count, size_t index)
{
    switch (arguments[index].kind) {
    case ARGUMENT_HANDLE:
        return (uintptr_t)w->pool[draw_handle(w, row, arguments[index].name)];
    case ARGUMENT_ADDRESS:
        return (uintptr_t)&w->pool[draw_handle(w, row, arguments[index].name)];
    case ARGUMENT_OUT:
        return draw(w, 32) > 0 ? (uintptr_t)w->answers : 0;
    case ARGUMENT_TEXT:
        return draw(w, 32) > 0 ? (uintptr_t)draw_text(w) : 0;
    case ARGUMENT_TEXTS:
        return draw(w, 32) > 0 ? (uintptr_t)w->texts : 0;
    case ARGUMENT_NUMBERS:
        return draw(w, 32) > 0 ? (uintptr_t)w->numbers : 0;
    case ARGUMENT_NUMBER:
        return strcmp(arguments[index].name, "fd") == 0 ? UINT64_MAX : draw_number(w, arguments, count);
    default:
        return 0;
    }
}

/* A handle that a call gave takes an empty place, so that none is lost. */
static size_t empty_place(const world *w)
{
    size_t place = 0;
    while (place < POOL && w->pool[place] != NULL)
        place++;
    return place;
}

/* By its name: options of what is created and allocated are set and got. */
static bool makes_handle(const char *name)
{
    if (strstr(name, "_set_") != NULL || strstr(name, "_get_") != NULL || strstr(name, "_release") != NULL)
        return false;
    return strstr(name, "create") != NULL || strstr(name, "retain") != NULL || strstr(name, "alloc") != NULL ||
           strcmp(name, "e5_compiler_compile") == 0;
}

static void call_once(world *w)
{
    argument arguments[SYMBOL_ARGUMENTS];
    uint64_t values[SYMBOL_ARGUMENTS] = {0};
    const size_t row = draw(w, symbol_call_count()), place = empty_place(w);
    const char *name = symbol_call_name(row);
    const size_t count = symbol_call_arguments(row, arguments);
    const bool makes = makes_handle(name);
    const bool releases = strstr(name, "_release") != NULL && place < POOL * 3 / 4 && draw(w, 4) > 0;
    if (is_left_out(row) || (makes && place == POOL) || releases)
        return;
    for (size_t i = 0; i < SPARE; i++) {
        w->numbers[i] = draw(w, 4);
        w->texts[i] = draw_text(w);
        w->answers[i] = 0;
    }
    for (size_t i = 0; i < count; i++)
        values[i] = draw_argument(w, name, arguments, count, i);
    const e5rt_error_code code = symbol_call(row, values);
    check_note((code == 0) == (e5rt_get_last_error_message()[0] == '\0'), __FILE__, __LINE__, "e5rt_%s: %lld \"%s\"",
               name, (long long)code, e5rt_get_last_error_message());
    w->succeeded += code == 0;
    if (makes && code == 0)
        w->pool[place] = (void *)(uintptr_t)w->answers[0], w->maker[place] = name;
}

/* A program with a state. */
static const char text[] = "program(1.3)\n[buildInfo = dict<string, string>({{\"coremlc-version\", \"1\"}})]\n{\n"
                           "func main<ios18>(state<tensor<fp32, [4]>> s, tensor<fp32, [4]> x) {\n"
                           "tensor<fp32, [4]> a = read_state(input = s)[name = string(\"a\")];\n"
                           "tensor<fp32, [4]> b = add(x = a, y = x)[name = string(\"b\")];\n"
                           "write_state(data = b, input = s)[name = string(\"w\")];\n"
                           "tensor<fp32, [4]> y = relu(x = b)[name = string(\"y\")];\n} -> (y);\n}\n";

static void keep(world *w, void *handle, const char *maker)
{
    const size_t place = empty_place(w);
    w->pool[place] = handle;
    w->maker[place] = maker;
}

/* What makes an encoded operation takes many right calls one after the other, so a world begins with one. */
static bool open_world(world *w, bool encoded)
{
    run_program r = {0};
    if (run_try_open(&r, text, E5RT_CPU, 2) != 0)
        return false;
    if (encoded)
        CHECK(run_bind(&r, false, "s", 16) != NULL && run_bind(&r, false, "x", 16) != NULL &&
              run_bind(&r, true, "y", 16) != NULL && run_encode(&r));
    keep(w, r.library, "e5_compiler_compile");
    keep(w, r.function, "retain_program_function");
    keep(w, r.options, "with_program_function");
    keep(w, r.operation, "precompiled_compute_operation");
    keep(w, r.stream, "execution_stream_create");
    for (int i = 0; i < r.port_count; i++) {
        keep(w, r.ports[i].port, "input_port");
        keep(w, r.ports[i].buffer, "buffer_object");
    }
    return true;
}

static void close_world(world *w)
{
    for (size_t i = 0; i < POOL; i++)
        for (size_t row = 0; w->pool[i] != NULL && row < symbol_call_count(); row++)
            if (strstr(symbol_call_name(row), "_release") != NULL)
                symbol_call(row, (const uint64_t[SYMBOL_ARGUMENTS]){(uintptr_t)&w->pool[i]});
    for (size_t i = 0; i < POOL; i++)
        check_note(w->pool[i] == NULL, __FILE__, __LINE__, "nothing releases handle %zu", i);
}

static void play(const char *path, uint64_t seed, long fail_at, long *succeeded)
{
    world w = {.random = seed * 0x9e3779b97f4a7c15U + 1};
    failing_allocator failing = {.fail_at = fail_at};
    const mw_allocator allocator = failing_allocator_of(&failing);
    snprintf(w.path, sizeof w.path, "%s", path);
    CHECK_INT(e5rt_mw_set_allocator(allocator.resize, allocator.user), 0);
    CHECK(open_world(&w, fail_at < 0) || failing.failed);
    for (int i = 0; i < CALLS; i++)
        call_once(&w);
    close_world(&w);
    CHECK_INT(failing.live, 0);
    CHECK_INT(e5rt_mw_set_allocator(NULL, NULL), 0);
    *succeeded += w.succeeded;
}

static void test_random_calls_leave_nothing_behind(void)
{
    char *folder = NULL, path[512];
    mw_error err = {0};
    long succeeded = 0;
    REQUIRE(mw__file_make_private_folder(NULL, 0, &folder, &err) == MW_OK);
    snprintf(path, sizeof path, "%s/model.mil", folder);
    REQUIRE(mw__file_write(NULL, path, text, strlen(text), false, &err) == MW_OK);
    for (uint64_t seed = 0; seed < ROUNDS; seed++)
        play(path, seed, seed % 2 == 0 ? -1 : (long)seed * 4, &succeeded);
    CHECK(succeeded > ROUNDS * 50);
    mw__file_remove_folder(folder);
    mw__free(NULL, folder);
}

int main(void)
{
    RUN(test_random_calls_leave_nothing_behind);
    return check_finish();
}
#else
static void test_rows_are_called_alike(void) { SKIP("pointers are narrower than numbers"); }

int main(void)
{
    RUN(test_rows_are_called_alike);
    return check_finish();
}
#endif
