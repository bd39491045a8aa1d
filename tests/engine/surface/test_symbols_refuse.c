/* Every row of symbols.def, called with what it cannot take: NULL, numbers that are no handles, live handles of each
 * other kind, and places for answers that are NULL. Each answers a status with a message, and touches nothing. */
#include "engine/run.h"
#include "support/check.h"
#include "symbol_call.h"

#include <stdlib.h>

#if UINTPTR_MAX == UINT64_MAX

/* The others take functions, which would be called, or none. */
static bool is_called(size_t row)
{
    return strcmp(symbol_call_name(row), "mw_set_allocator") != 0 &&
           strcmp(symbol_call_name(row), "mw_set_thread_hooks") != 0;
}

static const argument *first_handle(const argument *arguments, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (arguments[i].kind == ARGUMENT_HANDLE || arguments[i].kind == ARGUMENT_ADDRESS)
            return &arguments[i];
    return NULL;
}

/* ---- calling ---- */

typedef struct places {
    void *handle;        /* of what is released */
    uint64_t answers[4]; /* where OUT points */
    uint64_t list[4];
} places;

static void fill(uint64_t *values, const argument *arguments, size_t count, uint64_t handle, bool answers, places *p)
{
    memset(values, 0, SYMBOL_ARGUMENTS * sizeof *values);
    memset(p->list, 0, sizeof p->list);
    memset(p->answers, 0xaa, sizeof p->answers);
    p->handle = (void *)(uintptr_t)handle;
    for (size_t i = 0; i < count; i++) {
        const argument_kind kind = arguments[i].kind;
        values[i] = kind == ARGUMENT_HANDLE                              ? handle
                    : kind == ARGUMENT_ADDRESS                           ? (uintptr_t)&p->handle
                    : kind == ARGUMENT_OUT && answers                    ? (uintptr_t)p->answers
                    : kind == ARGUMENT_TEXT                              ? (uintptr_t) "nonsense"
                    : kind == ARGUMENT_TEXTS || kind == ARGUMENT_NUMBERS ? (uintptr_t)p->list
                    : kind == ARGUMENT_NUMBER                            ? 1
                                                                         : 0;
    }
}

/* `first` only: later handles are garbage, so that a right first one is still refused. */
static void check_refused(size_t row, const uint64_t *values, const places *p, uint64_t handle, const char *how)
{
    const e5rt_error_code code = symbol_call(row, values);
    check_note(code >= E5RT_INVALID_ARGUMENT && code <= E5RT_INVALID_DATA_TYPE, __FILE__, __LINE__,
               "e5rt_%s answers %lld to %s", symbol_call_name(row), (long long)code, how);
    check_note(e5rt_get_last_error_message()[0] != '\0', __FILE__, __LINE__, "e5rt_%s has no message for %s",
               symbol_call_name(row), how);
    check_note(p->handle == (void *)(uintptr_t)handle, __FILE__, __LINE__, "e5rt_%s changes the handle",
               symbol_call_name(row));
}

static void test_null_is_refused(void)
{
    argument arguments[SYMBOL_ARGUMENTS];
    const uint64_t nothing[SYMBOL_ARGUMENTS] = {0};
    const places none = {0};
    for (size_t row = 0; row < symbol_call_count(); row++)
        if (is_called(row) && symbol_call_arguments(row, arguments) > 0)
            check_refused(row, nothing, &none, 0, "NULL");
}

static void test_what_is_no_handle_is_refused(void)
{
    places p;
    argument arguments[SYMBOL_ARGUMENTS];
    uint64_t values[SYMBOL_ARGUMENTS];
    const uint64_t garbage[] = {0, 1, 255, 0xdeadbeef, UINT64_MAX, (uintptr_t)&p, (uint64_t)1 << 63};
    for (size_t row = 0; row < symbol_call_count(); row++) {
        const size_t count = symbol_call_arguments(row, arguments);
        if (!is_called(row) || first_handle(arguments, count) == NULL)
            continue;
        for (size_t i = 0; i < sizeof garbage / sizeof *garbage; i++) {
            fill(values, arguments, count, garbage[i], true, &p);
            check_refused(row, values, &p, garbage[i], "a number that is no handle");
        }
    }
}

/* ---- live handles ---- */

enum { KINDS = 18 };

/* One of each kind, named as the rows name it. */
typedef struct live {
    struct {
        const char *kind;
        void *handle;
    } of[KINDS];
    run_program program;
} live;

static void make_live(live *l)
{
    const uint64_t shape = 4;
    const char *kinds[KINDS] = {
        "config",           "compiler",      "options", "library", "function", "operation options",
        "operation",        "port",          "buffer",  "memory",  "stream",   "event",
        "operation config", "stream config", "dtype",   "desc",    "operand",  "plan"};
    for (int i = 0; i < KINDS; i++)
        l->of[i].kind = kinds[i], l->of[i].handle = NULL;
    run_program *r = &l->program;
    REQUIRE(run_open(r, RUN_TEXT("tensor<fp32, [4]> x", "tensor<fp32, [4]> y = relu(x = x);\n", "y"), E5RT_CPU, 1));
    CHECK(run_bind(r, false, "x", 16) != NULL && run_bind(r, true, "y", 16) != NULL && run_encode(r));
    l->of[3].handle = r->library, l->of[4].handle = r->function, l->of[6].handle = r->operation;
    l->of[7].handle = r->ports[0].port, l->of[8].handle = r->ports[0].buffer, l->of[10].handle = r->stream;
    CHECK_INT(e5rt_e5_compiler_config_options_create(&l->of[0].handle), 0);
    CHECK_INT(e5rt_e5_compiler_create(&l->of[1].handle), 0);
    CHECK_INT(e5rt_e5_compiler_options_create(&l->of[2].handle), 0);
    CHECK_INT(e5rt_precompiled_compute_op_create_options_create_with_program_function(&l->of[5].handle, r->function),
              0);
    CHECK_INT(e5rt_memory_object_create(&l->of[9].handle, 64, 0), 0);
    CHECK_INT(e5rt_async_event_create(&l->of[11].handle, "event", 0), 0);
    CHECK_INT(e5rt_execution_stream_operation_config_options_create(&l->of[12].handle), 0);
    CHECK_INT(e5rt_execution_stream_config_options_create(&l->of[13].handle), 0);
    CHECK_INT(e5rt_tensor_desc_dtype_create(&l->of[14].handle, E5RT_MW_FLOAT32, 1), 0);
    CHECK_INT(e5rt_tensor_desc_create(&l->of[15].handle, &shape, 1, l->of[14].handle), 0);
    CHECK_INT(e5rt_operand_desc_retain_from_tensor_desc(&l->of[16].handle, l->of[15].handle), 0);
    CHECK_INT(e5rt_mw_plan_create(&l->of[17].handle, r->operation), 0);
}

static void drop_live(live *l)
{
    CHECK_INT(e5rt_e5_compiler_config_options_release(&l->of[0].handle), 0);
    CHECK_INT(e5rt_e5_compiler_release(&l->of[1].handle), 0);
    CHECK_INT(e5rt_e5_compiler_options_release(&l->of[2].handle), 0);
    CHECK_INT(e5rt_precompiled_compute_op_create_options_release(&l->of[5].handle), 0);
    CHECK_INT(e5rt_memory_object_release(&l->of[9].handle), 0);
    CHECK_INT(e5rt_async_event_release(&l->of[11].handle), 0);
    CHECK_INT(e5rt_execution_stream_operation_config_options_release(&l->of[12].handle), 0);
    CHECK_INT(e5rt_execution_stream_config_options_release(&l->of[13].handle), 0);
    CHECK_INT(e5rt_tensor_desc_dtype_release(&l->of[14].handle), 0);
    CHECK_INT(e5rt_tensor_desc_release(&l->of[15].handle), 0);
    CHECK_INT(e5rt_operand_desc_release(&l->of[16].handle), 0);
    CHECK_INT(e5rt_mw_plan_release(&l->of[17].handle), 0);
    run_close(&l->program);
}

static bool begins(const char *text, const char *part) { return strncmp(text, part, strlen(part)) == 0; }

/* The kind that the first handle of a row has to be; its name says it but for options, descriptions and parts. */
static const char *kind_of(const char *row, const char *name)
{
    const char *own = begins(row, "mw_") ? row + 3 : row;
    if (strcmp(name, "options") == 0)
        return begins(own, "e5_compiler_config_options_")                    ? "config"
               : begins(own, "precompiled_") || strstr(own, "_with_options") ? "operation options"
               : begins(own, "execution_stream_operation_config_options_")   ? "operation config"
               : begins(own, "execution_stream_config_options_")             ? "stream config"
                                                                             : "options";
    if (strcmp(name, "desc") == 0)
        return begins(own, "operand_desc_retain") || (begins(own, "tensor_") && strstr(own, "from_operand") == NULL)
                   ? "desc"
                   : "operand";
    if (strcmp(name, "parent") == 0)
        return begins(own, "buffer_") ? "buffer" : "memory";
    return strcmp(name, "a") == 0 ? "dtype" : name;
}

static void test_a_handle_of_another_kind_is_refused(void)
{
    live l;
    places p;
    argument arguments[SYMBOL_ARGUMENTS];
    uint64_t values[SYMBOL_ARGUMENTS];
    make_live(&l);
    for (size_t row = 0; row < symbol_call_count(); row++) {
        const size_t count = symbol_call_arguments(row, arguments);
        const argument *first = first_handle(arguments, count);
        for (int k = 0; is_called(row) && first != NULL && k < KINDS; k++) {
            if (strcmp(kind_of(symbol_call_name(row), first->name), l.of[k].kind) == 0)
                continue;
            const uint64_t handle = (uintptr_t)l.of[k].handle;
            fill(values, arguments, count, handle, true, &p);
            check_refused(row, values, &p, handle, l.of[k].kind);
        }
    }
    drop_live(&l);
}

/* Of the right kind, too. */
static void test_no_place_for_the_answer_is_refused(void)
{
    live l;
    places p;
    argument arguments[SYMBOL_ARGUMENTS];
    uint64_t values[SYMBOL_ARGUMENTS];
    make_live(&l);
    for (size_t row = 0; row < symbol_call_count(); row++) {
        const size_t count = symbol_call_arguments(row, arguments);
        bool answers = false;
        for (size_t i = 0; i < count; i++)
            answers = answers || arguments[i].kind == ARGUMENT_OUT;
        for (int k = 0; answers && k < KINDS; k++) {
            const uint64_t handle = (uintptr_t)l.of[k].handle;
            fill(values, arguments, count, handle, false, &p);
            check_refused(row, values, &p, handle, "no place for the answer");
        }
    }
    drop_live(&l);
}

int main(void)
{
    RUN(test_null_is_refused);
    RUN(test_what_is_no_handle_is_refused);
    RUN(test_a_handle_of_another_kind_is_refused);
    RUN(test_no_place_for_the_answer_is_refused);
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
