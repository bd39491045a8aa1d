/* Compiles a MIL text through the e5rt surface and runs it; what the engine's tests share. Every function notes its
 * failure with the engine's message and returns false. */
#ifndef TESTS_ENGINE_RUN_H
#define TESTS_ENGINE_RUN_H

#include "engine/compile/compile.h"
#include <e5rt/e5rt.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RUN_PORTS 64

typedef struct run_port {
    char name[32];
    bool output;
    void *port, *buffer;
    void *data;
    size_t size;
} run_port;

typedef struct run_program {
    void *library, *function, *options, *operation, *stream;
    run_port ports[RUN_PORTS];
    int port_count;
} run_program;

/* A variable of the engine for what is compiled by this file from now on, as the environment would set it; NULL: as if
 * it were not set. Both are kept, not copied. Programs and trainers do not see it: for them there is support/setting.h.
 */
void run_set(const char *name, const char *value);
/* The configuration that a compiler has then. */
mw_status run_config(mw__config *out, mw_error *err);
/* The same where it is known to be sound, and its level. */
mw__config config_here(void);
mw__level level_here(void);

/* Writes `text` to a private folder and compiles it; the folder is removed. The code is that of compile. */
e5rt_error_code run_compile(const char *text, uint64_t mask, uint64_t threads, void **out_library);

/* The engine's message of the last run_compile or run_try_open that failed. */
const char *run_message(void);

/* Compiles and makes operation and stream of "main". Nothing is noted if it fails: see run_message. */
e5rt_error_code run_try_open(run_program *r, const char *text, uint64_t mask, uint64_t threads);
bool run_open(run_program *r, const char *text, uint64_t mask, uint64_t threads);
/* The same with a library that is there, whose handle is taken over. */
bool run_adopt(run_program *r, void *library);
void run_close(run_program *r);

/* A fresh zeroed buffer of `size` bytes for the port; returns its data, NULL on failure. */
void *run_bind(run_program *r, bool output, const char *name, size_t size);
/* Binds the output to the buffer that the input has; returns its data. */
void *run_share(run_program *r, const char *output, const char *input);
/* Binds caller's memory. */
bool run_bind_data(run_program *r, bool output, const char *name, void *data, size_t size);
bool run_encode(run_program *r);
bool run_execute(run_program *r);
/* The plan of what is encoded holds together: no two intermediates are in the same bytes at the same time, all fit into
 * the memory, ports share memory exactly where they are bound to the same, lives and tasks are those of the steps. */
bool run_check_plan(const run_program *r);

/* The engine's own view of a program for the CPU: released with mw__object_release. */
mw__library *run_library(const char *text, uint64_t threads, mw_error *err);
/* The same for the devices of a mask. */
mw__library *run_library_for(uint64_t mask, const char *text, uint64_t threads, mw_error *err);
/* The same of a graph. */
mw__library *run_library_of(const mw_graph *graph, uint64_t threads, mw_error *err);
/* What encoding makes of the first function. */
typedef struct run_facts {
    size_t steps, phases, memory; /* bytes of intermediates */
    int partitions;
    double seconds; /* of the CPU, for encoding alone */
} run_facts;

/* Compiles and encodes, each port on memory of its own. A failure is noted, and false. */
bool run_find_facts(const char *text, uint64_t threads, run_facts *out);

typedef struct run_label {
    const char *label;
    size_t count;
} run_label;

/* The plan of the first function, for two threads, has as many steps with each of those labels. `what` is for messages.
 */
void run_check_labels(const char *what, const char *text, const run_label *labels, size_t count);
/* The same, compiled for the devices of a mask. */
void run_check_labels_for(uint64_t mask, const char *what, const char *text, const run_label *labels, size_t count);

#define RUN_TEXT(inputs, body, outputs)                                                                                \
    "program(1.3)\n[buildInfo = dict<string, string>({{\"coremlc-version\", \"1\"}})]\n{\n    func "                   \
    "main<ios18>(" inputs ") {\n" body "    } -> (" outputs ");\n}\n"

#endif
