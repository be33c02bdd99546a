<?php
/**
 * Builds the request for a comment.
 *
 * @package Slopsieve
 */

namespace Slopsieve;

if ( ! defined( 'ABSPATH' ) ) {
	exit;
}

const MOST_EXCERPT_CHARS = 4000;

/** Return a comment's text without the attributes and entities that WordPress added. */
function text_of( \WP_Comment $comment ): string {
	$text = preg_replace( '/ rel="[a-z ]*"/', '', $comment->comment_content );
	return wp_specialchars_decode( $text ?? $comment->comment_content, ENT_QUOTES );
}

/** Return a comment's request, which is the same for the same comment. */
function as_sent( \WP_Comment $comment ): array {
	$form = get_comment_meta( $comment->comment_ID, FORM, true );
	$body = array(
		'text'       => text_of( $comment ),
		'post'       => post_of( $comment ),
		'author'     => author_of( $comment ),
		'address'    => filter_var( $comment->comment_author_IP, FILTER_VALIDATE_IP ) ? $comment->comment_author_IP : null,
		'user_agent' => $comment->comment_agent,
		'written_at' => str_replace( ' ', 'T', $comment->comment_date_gmt ) . 'Z',
		'reply_to'   => $comment->comment_parent ? get_comment_meta( $comment->comment_parent, SENT_AS, true ) : null,
		'form'       => is_array( $form ) ? $form : null,
	);
	if ( ! in_array( $comment->comment_type, array( '', 'comment' ), true ) ) {
		$body['comment_type'] = mb_substr( $comment->comment_type, 0, 50 );
	}
	$body = array_filter( $body );
	// The id has a hash of the compared fields, so an edit between two tries makes another comment.
	$compared = array_diff_key( $body, array_flip( array( 'form', 'user_agent', 'address' ) ) );
	unset( $compared['author']['account_age_days'] );
	$body['site_comment_id'] = sprintf(
		'wp-%s-%d-%s',
		install_id(),
		$comment->comment_ID,
		substr( hash( 'sha256', (string) wp_json_encode( $compared ) ), 0, 8 )
	);
	return $body;
}

/** Return a random id of this blog, created once, for blogs that share a key. */
function install_id(): string {
	if ( ! connection( 'install' ) ) {
		keep_connection( array( 'install' => bin2hex( random_bytes( 4 ) ) ) );
	}
	return connection( 'install' );
}

/** Return the comment that was sent with this id, or null. */
function comment_sent_as( string $sent_as ): ?\WP_Comment {
	if ( ! preg_match( '/^wp-[0-9a-f]{8}-([0-9]{1,18})-[0-9a-f]{8}$/', $sent_as, $found ) ) {
		return null;
	}
	$comment = get_comment( (int) $found[1] );
	return $comment && get_comment_meta( $comment->comment_ID, SENT_AS, true ) === $sent_as ? $comment : null;
}

/** Return the post's fields to send; a password-protected post has no excerpt. */
function post_of( \WP_Comment $comment ): array {
	$post = get_post( (int) $comment->comment_post_ID );
	if ( ! $post ) {
		return array();
	}
	$about = $post->post_password ? '' : ( $post->post_excerpt ? $post->post_excerpt : strip_shortcodes( $post->post_content ) );
	return array_filter(
		array(
			'url'     => (string) get_permalink( $post ),
			'title'   => mb_substr( plain( $post->post_title ), 0, 300 ),
			'excerpt' => mb_substr( plain( $about ), 0, MOST_EXCERPT_CHARS ),
		)
	);
}

/** Return the author's fields to send. */
function author_of( \WP_Comment $comment ): array {
	$author = array(
		'name'  => wp_specialchars_decode( $comment->comment_author, ENT_QUOTES ),
		'email' => $comment->comment_author_email,
		'url'   => $comment->comment_author_url,
	);
	$user   = $comment->user_id ? get_userdata( (int) $comment->user_id ) : false;
	if ( $user ) {
		$author['account_id']       = 'wp-user-' . $user->ID;
		$author['account_age_days'] = max( 0, intdiv( time() - (int) strtotime( $user->user_registered . ' UTC' ), DAY_IN_SECONDS ) );
	}
	return array_filter( $author, fn( $one ) => '' !== $one );
}

/** Return text without markup. */
function plain( string $html ): string {
	return trim( html_entity_decode( wp_strip_all_tags( $html ), ENT_QUOTES, 'UTF-8' ) );
}
