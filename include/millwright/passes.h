/* What happens to a program while it is compiled: a report of each pass, and rules that are left out by name
 * (mw_compile_options.passes). docs/passes.md lists the passes and has two programs on their way; `mw passes` prints
 * the same of a file.
 *
 *     static void show(void *user, const mw_pass *pass)
 *     {
 *         printf("%-14s %6.2f ms  %zu -> %zu\n", pass->name, pass->seconds * 1e3, pass->before, pass->after);
 *     }
 *     ..
 *     options.passes.report = show;
 *     options.passes.off = "fuse,conv.columns";
 *
 * Threads: plain values; a report is called on the thread of the call that compiles. */
#ifndef MILLWRIGHT_PASSES_H
#define MILLWRIGHT_PASSES_H

#include <millwright/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/** What a rule did in one pass. */
typedef struct mw_pass_rule {
    const char *name;
    size_t hits;     /* operations that it wrote, or put its kernel at */
    size_t refusals; /* operations of its kind that it left as they were */
} mw_pass_rule;

/** What a rule made of one operation (mw_passes.why). */
typedef struct mw_pass_note {
    const char *rule;
    const char *operation; /* name of its first result, else its kind */
    const char *refused;   /* why the rule left it; NULL = it was written */
} mw_pass_note;

/** One pass over a program, or over one of its functions. Everything is valid during the call alone. */
typedef struct mw_pass {
    const char *name;
    const char *stage;    /* "training", "form", "text", "function", "steps" */
    const char *sentence; /* what it does */
    const char *function; /* of the program; of a branch or a loop's body, "main/while_loop" */
    double seconds;
    size_t before, after;      /* operations without constants; of stage "steps", steps */
    bool changed;              /* false: it had nothing to do, and copied nothing */
    const mw_pass_rule *rules; /* those of this pass that did or refused anything, in their order */
    size_t rule_count;
    const mw_pass_note *notes; /* in the order in which operations were met */
    size_t note_count;
    const char *text;   /* after it: MIL, of stage "steps" a line for each step; NULL unless texts is set, if nothing
                         * changed, and of stage "function" */
    const char *broken; /* its invariant, if that does not hold, which is a fault of this library; NULL */
} mw_pass;

/** Which passes and rules are left out, and who hears of them. All zero: nothing.
 *  lifetime  the strings, and what `report_user` leads to, must stay until what is compiled with them is destroyed: a
 *            trainer makes programs later, too
 *  errors    of the call that compiles: MW_ERROR_ARGUMENT for a name in `off` that no pass and no rule has, or that of
 *            one that cannot be left out */
typedef struct mw_passes {
    const char *off; /* names with commas between them, "fuse,digits"; NULL = none. Those of the variable MW_PASSES_OFF
                      * are left out as well. What a device refuses without the rule is then refused */
    void (*report)(void *user, const mw_pass *pass); /* NULL = none. Called for each pass in its order. What is
                                                      * compiled is then not taken from a cache. On Espresso, whose
                                                      * passes are unknown, for those before MIL alone */
    void *report_user;
    const char *why; /* name of an operation's result: notes are made of it, and of what it becomes ("x", then "x_out");
                      * "*" = of all operations; NULL = of none */
    bool texts;      /* each pass gives its text */
} mw_passes;

#ifdef __cplusplus
}
#endif

#endif
