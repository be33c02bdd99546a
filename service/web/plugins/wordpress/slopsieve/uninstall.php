<?php
/**
 * Deletes options, comment meta, schedules, and the callback at the service.
 *
 * @package Slopsieve
 */

namespace Slopsieve;

if ( ! defined( 'WP_UNINSTALL_PLUGIN' ) ) {
	exit;
}

// The plugin is still loaded if it is deactivated and deleted in one request, as with WP-CLI.
if ( ! defined( __NAMESPACE__ . '\\VERSION' ) ) {
	define( __NAMESPACE__ . '\\VERSION', 'uninstall' );
}

require_once __DIR__ . '/includes/names.php';
require_once __DIR__ . '/includes/service.php';

/** Delete all data of one blog. */
function forget_blog(): void {
	if ( is_set_up() ) {
		ask_service( 'DELETE', '/v1/site/callback', null, 3.0 );
	}
	foreach ( array( SETTINGS, CONNECTION, WITHDRAWN ) as $option ) {
		delete_option( $option );
	}
	delete_transient( TEST );
	foreach ( METAS as $key ) {
		delete_metadata( 'comment', 0, $key, '', true );
	}
	wp_clear_scheduled_hook( RETRY );
	wp_clear_scheduled_hook( SWEEP );
}

in_every_blog( __NAMESPACE__ . '\\forget_blog' );
