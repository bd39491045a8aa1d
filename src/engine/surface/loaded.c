/* Espresso loads a program for each operation; ANEForge's dispatch reference counts about 128 in a process, of which
 * the next fails and each release frees one. Operations of one function might share theirs: MW_ENGINE_LOADED.
 * Process-wide and mutable, as that limit is. */
#include "engine/surface/loaded.h"

#include "base/text/error.h"

#include <pthread.h>

static struct {
    pthread_mutex_t mutex;
    size_t operations, programs;
} loaded = {.mutex = PTHREAD_MUTEX_INITIALIZER};

static bool is_full(const mw__program *program)
{
    if (program->loaded == MW__LOADED_OPERATIONS)
        return loaded.operations >= MW__LOADED_MAX;
    return *program->live == 0 && loaded.programs >= MW__LOADED_MAX;
}

mw_status mw__loaded_add(const mw__program *program, const char *name, mw_error *err)
{
    if (program->loaded == MW__LOADED_NONE)
        return MW_OK;
    pthread_mutex_lock(&loaded.mutex);
    const bool full = is_full(program);
    if (!full) {
        loaded.operations++;
        loaded.programs += *program->live == 0;
        ++*program->live;
    }
    pthread_mutex_unlock(&loaded.mutex);
    if (!full)
        return MW_OK;
    return mw__fail(err, MW_ERROR_STATE,
                    "ANE model load has failed for operation \"%s\": this process has %d %s loaded, and a Mac takes no "
                    "more; release one (MW_ENGINE_LOADED)",
                    name, MW__LOADED_MAX, program->loaded == MW__LOADED_OPERATIONS ? "operations" : "programs");
}

void mw__loaded_remove(const mw__program *program)
{
    if (program->loaded == MW__LOADED_NONE)
        return;
    pthread_mutex_lock(&loaded.mutex);
    loaded.operations--;
    --*program->live;
    loaded.programs -= *program->live == 0;
    pthread_mutex_unlock(&loaded.mutex);
}
