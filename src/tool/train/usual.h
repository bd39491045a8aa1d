/* Networks that are taken where no recipe says one. */
#ifndef MW__TOOL_TRAIN_USUAL_H
#define MW__TOOL_TRAIN_USUAL_H

#include <millwright/data.h>
#include <millwright/millwright.h>

/* h: what mw_table_encoder_layer made; count numbers an example come out. */
mw_tensor *usual_network(const mw_table_encoder *encoder, mw_tensor *h, int64_t count);

#endif
