<?php
/**
 * Plugin Name:       Slopsieve
 * Plugin URI:        https://slopsieve.example/
 * Description:       Has each new comment judged by your own Slopsieve service: spam to Spam, unsure to Pending with the reason, and decisions travel both ways.
 * Version:           1.0.0
 * Requires at least: 6.0
 * Requires PHP:      7.4
 * Author:            Slopsieve
 * License:           GPL-2.0-or-later
 * License URI:       https://www.gnu.org/licenses/gpl-2.0.html
 * Text Domain:       slopsieve
 *
 * @package Slopsieve
 */

namespace Slopsieve;

if ( ! defined( 'ABSPATH' ) ) {
	exit;
}

const VERSION = '1.0.0';

require __DIR__ . '/includes/names.php';
require __DIR__ . '/includes/language.php';
require __DIR__ . '/includes/service.php';
require __DIR__ . '/includes/sending.php';
require __DIR__ . '/includes/judging.php';
require __DIR__ . '/includes/deciding.php';
require __DIR__ . '/includes/retrying.php';
require __DIR__ . '/includes/callback.php';
require __DIR__ . '/includes/form.php';
require __DIR__ . '/includes/comments-list.php';
require __DIR__ . '/includes/moving.php';
require __DIR__ . '/includes/settings.php';
require __DIR__ . '/includes/privacy.php';

register_activation_hook( __FILE__, __NAMESPACE__ . '\\start' );
register_deactivation_hook( __FILE__, __NAMESPACE__ . '\\stop' );
