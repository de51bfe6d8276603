/* SPDX-License-Identifier: Apache-2.0 */
/**
 * What others need to know of a thermostat: its messages and what it accepts. Nothing is defined.
 */
#ifndef EXAMPLES_THERMOSTAT_H
#define EXAMPLES_THERMOSTAT_H

#include <troupe/troupe.h>

TR_MESSAGE(set_target, (f64, celsius));
TR_MESSAGE(measured, (f64, celsius));
TR_MESSAGE(reading, (f64, celsius), (bool, is_heating));
TR_REQUEST(get_reading, reading);
TR_ACTOR(thermostat, set_target, measured, get_reading);

#endif
