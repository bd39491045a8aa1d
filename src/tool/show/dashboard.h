/* A training on a terminal: where it stands, how the loss goes, how long it will take. Where there is no terminal
 * mw_trainer_fit prints its own plain lines. */
#ifndef MW__TOOL_SHOW_DASHBOARD_H
#define MW__TOOL_SHOW_DASHBOARD_H

#include "tool/tool.h"

enum { DASHBOARD_POINTS = 4096 };

typedef struct dashboard {
    bool active; /* there is a terminal that is wide enough */
    bool shown;  /* lines of it are on the screen */
    double drawn;
    double points[DASHBOARD_POINTS]; /* the loss over the steps so far, evenly spread */
    int64_t count, every;            /* of points; steps between two */
    double sum;
    int64_t summed;
    bool has_validation;
    mw_evaluation validation; /* the last */
    char note[96];            /* what else the last epoch found; "" = nothing */
} dashboard;

/* Returns whether it takes the place of mw_trainer_fit's lines. */
bool dashboard_begin(dashboard *board, const tool_call *call);
/* To be called by a callback of mw_trainer_fit; false, as that means to go on. */
bool dashboard_report(dashboard *board, const mw_progress *progress);
/* Leaves what it showed last on the screen. */
void dashboard_end(dashboard *board);

#endif
