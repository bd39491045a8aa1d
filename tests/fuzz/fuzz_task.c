/* Tasks against any words: whatever registers say, they are refused or run within their windows and limits. The first
 * three bytes say where the chain begins; the section of tasks follows, and the last quarter of it is coefficients. */
#include "chip/task/run.h"
#include "fuzz/replay.h"

#include <stdlib.h>
#include <string.h>

enum { WINDOW = 4096, WORK = 1 << 16, MEMORY = 1 << 20, HEAD = 3 };

typedef struct machine {
    mw__chip_machine machine;
    mw__chip_window windows[4];
    uint64_t bases[MW__BASE_REGISTERS];
    uint8_t *ports[3];
} machine;

/* Blocks of their own, so that a sanitizer sees what lies outside. */
static void set_up(machine *m, uint8_t *constants, size_t size)
{
    static const char *const names[3] = {"output", "input", "second input"};
    *m = (machine){
        .machine = {.limits = {.work = WORK, .memory = MEMORY}, .arithmetic = mw__arithmetic_of(MW_CHIP_H13)}};
    m->windows[0] = (mw__chip_window){"constants", 0x1000, constants, size, false};
    m->bases[1] = 0x1000;
    for (int i = 0; i < 3; i++) {
        m->ports[i] = malloc(WINDOW);
        if (m->ports[i] == NULL)
            abort();
        memset(m->ports[i], 0x3c + i, WINDOW);
        m->bases[4 + i] = 0x1000000 * (uint64_t)(i + 1);
        m->windows[1 + i] = (mw__chip_window){names[i], m->bases[4 + i], m->ports[i], WINDOW, i == 0};
    }
    m->machine.bases = m->bases;
    m->machine.windows = m->windows;
    m->machine.window_count = 4;
}

/* What is refused has written nothing. */
static void run_one(machine *m, const mw__task *task)
{
    uint8_t before[WINDOW];
    mw_error err = {0};
    memcpy(before, m->ports[0], WINDOW);
    m->machine.work = 0;
    const mw_status status = mw__task_run_one(&m->machine, task, &err);
    if (status != err.status || m->machine.work > WORK)
        abort();
    if (status != MW_OK && memcmp(before, m->ports[0], WINDOW) != 0)
        abort();
    for (int i = 1; i < 3; i++)
        for (int k = 0; k < WINDOW; k++)
            if (m->ports[i][k] != 0x3c + i)
                abort();
}

static void run_chain(const uint8_t *text, size_t size, const mw__task_start *start, uint8_t *constants,
                      size_t constants_size)
{
    mw__task_chain chain;
    mw_error err = {0};
    if (mw__task_chain_read(NULL, text, size, start, &chain, &err) != err.status)
        abort();
    machine m;
    set_up(&m, constants, constants_size);
    for (size_t i = 0; i < chain.count; i++)
        run_one(&m, &chain.tasks[i]);
    for (int i = 0; i < 3; i++)
        free(m.ports[i]);
    mw__task_chain_deinit(&chain);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < HEAD)
        return 0;
    const mw__task_start start = {.words = (size_t)(data[0] | data[1] << 8), .tasks = data[2]};
    const size_t constants_size = (size - HEAD) / 4, text_size = size - HEAD - constants_size;
    uint8_t *text = malloc(text_size + 1), *constants = malloc(constants_size + 1);
    if (text == NULL || constants == NULL)
        abort();
    memcpy(text, data + HEAD, text_size);
    memcpy(constants, data + HEAD + text_size, constants_size);
    run_chain(text, text_size, &start, constants, constants_size);
    free(text);
    free(constants);
    return 0;
}
