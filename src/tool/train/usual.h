/* Networks that are taken where no recipe says one. */
#ifndef MW__TOOL_TRAIN_USUAL_H
#define MW__TOOL_TRAIN_USUAL_H

#include <millwright/data.h>
#include <millwright/millwright.h>

/* h: what mw_table_encoder_layer made; count numbers an example come out. */
mw_tensor *usual_network(const mw_table_encoder *encoder, mw_tensor *h, int64_t count);

/* For pictures [N, C, H, W] and, through mw_log_mel, sounds [N, C, T] of a rate, 0 for pictures: convolutions, then
 * the mean over all places or times. */
mw_tensor *usual_network_of_places(mw_tensor *x, int64_t rate, int64_t count);

#endif
